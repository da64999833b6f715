use retry_protections::ConcurrencyLimiter;
use retry_runtime::retry;

static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

#[retry(limiter = &LIMITER, cost = 4)]
async fn complete() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
