use retry_runtime::retry;

#[retry(attempts = LIMIT, throttled(tries(4)), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
