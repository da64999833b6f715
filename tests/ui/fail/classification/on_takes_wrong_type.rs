use retry_runtime::retry;
use std::io;

fn is_retryable(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[retry(on = is_retryable)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
