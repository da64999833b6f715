use retry_runtime::retry;

#[retry(backoff = "linear", jitter = "decorrelated", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
