use retry_runtime::retry;

#[retry(backoff = ["1s", std::time::Duration::from_secs(5)], on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
