//! Limiters whose numbers stay what they are.

use std::time::Duration;

use retry_protections::{ConcurrencyLimiter, Quota, RateLimiter};

/// So many at a time, whatever happens.
pub const fn at_a_time(limit: u32) -> ConcurrencyLimiter {
    ConcurrencyLimiter::aimd()
        .start(limit)
        .least(limit)
        .most(limit)
}

/// So many seconds between two.
pub const fn each(gap: u64) -> RateLimiter<Quota> {
    RateLimiter::fixed(1, Duration::from_secs(gap))
}
