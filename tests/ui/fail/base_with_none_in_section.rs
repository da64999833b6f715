use retry_runtime::retry;

#[retry(invalid(backoff = "none", base = "1s"), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(backoff = "none", base = "1s", throttled(max = 9), on = |_| true)]
async fn taken_by_no_section() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
