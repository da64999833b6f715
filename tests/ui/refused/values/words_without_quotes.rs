use retry_runtime::{Backoff, retry};

#[retry(backoff = exp, jitter = none, hint = honor, max = unlimited, throttled(backoff = linear))]
async fn words() -> std::io::Result<()> {
    Ok(())
}

#[retry(backoff = fixed, jitter = jitter)]
async fn arguments(fixed: Backoff, jitter: f64) -> std::io::Result<()> {
    Ok(())
}

#[retry(jitter = 20%)]
async fn per_cent() -> std::io::Result<()> {
    Ok(())
}

#[retry(max = (base = "1s"))]
async fn keys_in_parentheses() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
