use std::rc::Rc;
use std::sync::Arc;

use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::{Budget, WithCost, retry, retrying};

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

#[retry(breaker = &Breaker::new(), budget = &Budget::ratio(0.1).capacity(5))]
async fn itself() -> std::io::Result<()> {
    Ok(())
}

#[retry(breaker = Breaker::new(), limiter = WithCost::new(ConcurrencyLimiter::aimd(), 5))]
async fn by_value() -> std::io::Result<()> {
    Ok(())
}

#[retry(limiter = &retry_protections::RateLimiter::quota(60, 1000), budget = &self.budgets.new(1))]
async fn by_path() -> std::io::Result<()> {
    Ok(())
}

#[retry(observe = Progress::spinner(), limiter = &ConcurrencyLimiter::fixed(10))]
async fn observed() -> std::io::Result<()> {
    Ok(())
}

#[retry(observe = &observers::Stats::new())]
async fn counted() -> std::io::Result<()> {
    Ok(())
}

#[retry(observe = (Arc::new(|_| ()), Metrics::new()))]
async fn stateless() -> std::io::Result<()> {
    Ok(())
}

#[retry(breaker = Breaker::of(host), budget = Arc::clone(budget), limiter = Limits::new(fleet))]
async fn shared(host: &str, budget: &Arc<Budget>, fleet: &Fleet) -> std::io::Result<()> {
    Ok(())
}

fn main() {}
