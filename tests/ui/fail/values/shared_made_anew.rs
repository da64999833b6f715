use retry_runtime::{Breaker, Budget, ConcurrencyLimiter, RateLimiter, WithCost, retry, retrying};

const BREAKER: Breaker = Breaker::new();
const LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

#[retry(breaker = BREAKER, limiter = LIMITER, budget = Budget::standard())]
async fn complete() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

#[retry(limiter = WithCost::new(RateLimiter::adaptive(), 5))]
fn search() -> std::io::Result<String> {
    retrying!(breaker = Breaker::new().consecutive_failures(5), {
        Ok(String::from("hello"))
    })
}

#[retry(budget = Box::new(Budget::standard()))]
fn boxed() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

fn main() {}
