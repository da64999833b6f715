use retry_runtime::retry;

#[retry(jitter = false, backoff = "constant", hint = true, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
