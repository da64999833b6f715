//! Elapsed time restores consumed capacity. No time counts twice, no matter which threads make corrections.

use std::sync::Arc;
use std::time::Duration;

use crate::clock;
use crate::limiter::quota::Quota;
use crate::limiter::rate_limiter::RateLimiter;
use crate::{at_once, many};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn concurrent_corrections_count_time_once() {
    many(|| {
        clock::set(100 * SECOND);
        let limiter: RateLimiter<Quota> = RateLimiter::fixed(1, SECOND).burst(100);
        // Uses up the whole burst.
        limiter.settle(0, 100);
        let limiter = Arc::new(limiter);
        at_once(&limiter, 4, |limiter, number| {
            clock::advance(5 * SECOND);
            match number % 2 {
                0 => limiter.settle(0, 0),
                _ => limiter.learn(|_| Some("100")),
            }
        });
        let available = limiter.available();
        assert!((available - 20.0).abs() < 1e-6, "{available}");
    });
}
