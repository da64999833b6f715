use std::io::Error;

use retry_protections::{Breaker, RateLimiter};
use retry_runtime::{Budget, Policy};

fn main() {
    let read = || Ok::<_, Error>(1);
    let policy = Policy::new();
    let _ = policy.budget(Budget::standard()).call_blocking(read);
    let _ = policy.breaker(Breaker::new()).call_blocking(read);
    let _ = policy.limiter(RateLimiter::adaptive()).call_blocking(read);
}
