use std::rc::Rc;
use std::sync::Arc;

use retry_runtime::{Breaker, Budget, ConcurrencyLimiter, Limiter, WithCost, retry, retrying};

#[retry(budget = Arc::new(Budget::standard()), breaker = std::sync::Arc::new(Breaker::new()))]
async fn budget() -> std::io::Result<()> {
    Ok(())
}

#[retry(limiter = WithCost::new(Rc::new(ConcurrencyLimiter::aimd()), 1))]
async fn limiter() -> std::io::Result<()> {
    retrying!(limiter = Arc::new(ConcurrencyLimiter::aimd()).cost(4), async {
        Ok(())
    })
    .await
}

#[retry(budget = &Arc::new(Budget::standard()), limiter = (Rc::new(ConcurrencyLimiter::aimd())))]
async fn behind_a_reference() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
