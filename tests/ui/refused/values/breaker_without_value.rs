use retry_runtime::retry;

#[retry(breaker, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(breaker = 10, on = |_| true)]
async fn number() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(circuit_breaker = &BREAKER, on = |_| true)]
async fn elsewhere() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
