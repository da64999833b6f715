//! Limiters whose limits don't change.

use std::time::Duration;

use retry_protections::{ConcurrencyLimiter, Quota, RateLimiter};

/// Returns a limiter with a fixed concurrency.
pub const fn at_a_time(limit: u32) -> ConcurrencyLimiter {
    ConcurrencyLimiter::aimd()
        .start(limit)
        .least(limit)
        .most(limit)
}

/// Returns a limiter with this number of seconds between two attempts.
pub const fn each(gap: u64) -> RateLimiter<Quota> {
    RateLimiter::fixed(1, Duration::from_secs(gap))
}
