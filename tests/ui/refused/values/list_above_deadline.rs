use retry_runtime::retry;

#[retry(backoff = ["2s", "5s"], deadline = "1s", jitter = "none", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
