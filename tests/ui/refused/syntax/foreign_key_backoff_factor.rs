use retry_runtime::retry;

#[retry(backoff_factor = 2, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
