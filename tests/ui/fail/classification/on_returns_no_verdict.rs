use retry_runtime::retry;

fn is_retryable(error: &String) -> &str {
    error
}

#[retry(on = is_retryable)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
