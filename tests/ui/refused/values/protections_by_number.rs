use retry_runtime::retry;

#[retry(budget = 0.1, limiter = 5, breaker = 0.5)]
async fn by_number() -> std::io::Result<()> {
    Ok(())
}

#[retry(budget = "standard")]
async fn by_name() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
