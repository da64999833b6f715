use retry_runtime::retry;

#[retry(jitter = true, backoff = false, hint = "off", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
