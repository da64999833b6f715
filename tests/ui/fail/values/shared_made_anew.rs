use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::{Budget, retry};

const BREAKER: Breaker = Breaker::new();
const LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
const BUDGET: Budget = Budget::standard();

#[retry(breaker = BREAKER, limiter = LIMITER, budget = BUDGET)]
async fn complete() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

#[retry(budget = Box::new(Budget::standard()))]
fn boxed() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

fn main() {}
