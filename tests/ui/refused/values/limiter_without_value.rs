use retry_runtime::retry;

#[retry(limiter, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(limiter = 10, on = |_| true)]
async fn number() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(rate_limiter = &LIMITER, on = |_| true)]
async fn elsewhere() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
