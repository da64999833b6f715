use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::Policy;

static BREAKER: Breaker = Breaker::new();
static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

#[derive(Debug)]
struct Overloaded;

async fn complete() -> Result<String, Overloaded> {
    Err(Overloaded)
}

#[tokio::main]
async fn main() {
    let policy = Policy::new().on(|_: &Overloaded| true);
    let _ = policy.breaker(&BREAKER).call(complete).await;
    let policy = Policy::new().on(|_: &Overloaded| true);
    let _ = policy.limiter(&LIMITER).call(complete).await;
}
