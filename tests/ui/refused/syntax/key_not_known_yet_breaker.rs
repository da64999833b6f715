use retry_runtime::retry;

#[retry(breaker = self::BREAKER, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
