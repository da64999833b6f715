use retry_runtime::retry;

#[retry(hedge = "0s")]
async fn zero() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = 200)]
async fn unit() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge)]
async fn no_value() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedging_delay = "200ms")]
async fn by_another_name() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
