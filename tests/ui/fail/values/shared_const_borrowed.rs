use retry_protections::{Breaker, RateLimiter};
use retry_runtime::{Budget, retry, retrying};

const BREAKER: Breaker = Breaker::new();
const BUDGET: Budget = Budget::standard();
const LIMITER: RateLimiter = RateLimiter::adaptive();

#[retry(breaker = &BREAKER)]
async fn breaker() -> std::io::Result<u32> {
    Ok(1)
}

#[retry(budget = &BUDGET)]
fn budget() -> std::io::Result<u32> {
    retrying!(limiter = &LIMITER, { Ok(1) })
}

fn main() {}
