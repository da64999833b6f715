use retry_runtime::retry;

fn is_retryable(error: &String) -> bool {
    error == "overloaded"
}

#[retry(on = is_retryabel)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
