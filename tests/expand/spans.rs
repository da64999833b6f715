//! Spans around a call and its attempts.
#[retry(max = 3, span = true, on = is_retryable)]
async fn fetch(url: &str) -> Result<Page, FetchError> {
    get(url).await
}

#[retry(max = 3, span = true, on = is_retryable)]
fn read(path: &Path) -> Result<Page, ReadError> {
    open(path)
}
