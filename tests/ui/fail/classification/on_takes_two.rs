use retry_runtime::retry;

fn is_retryable(error: &String, attempt: u32) -> bool {
    error == "overloaded" && attempt < 3
}

#[retry(on = is_retryable)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
