use retry_runtime::{ConcurrencyLimiter, retry};

static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

#[retry(limiter = &LIMITER, cost = 4)]
async fn complete() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
