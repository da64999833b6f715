use retry_runtime::retry;

fn jitter() -> bool {
    true
}

#[retry(jitter = self::jitter(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
