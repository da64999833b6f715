use retry_runtime::retry;

#[retry(jitter = 0.12345678901, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
