//! Time pays for consumed capacity, and is never counted twice, with corrections by any thread.

use std::sync::Arc;
use std::time::Duration;

use shuttle::thread;

use crate::clock;
use crate::limiter::quota::Quota;
use crate::limiter::rate_limiter::RateLimiter;
use crate::many;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn no_time_pays_twice() {
    many(|| {
        clock::set(100 * SECOND);
        let limiter: RateLimiter<Quota> = RateLimiter::fixed(1, SECOND).burst(100);
        // All that a burst holds.
        limiter.settle(0, 100);
        let limiter = Arc::new(limiter);
        let settle: fn(&RateLimiter<Quota>) = |limiter| limiter.settle(0, 0);
        let learn: fn(&RateLimiter<Quota>) = |limiter| limiter.learn(|_| Some("100"));
        let threads = [settle, learn, settle, learn].map(|correct| {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                clock::advance(5 * SECOND);
                correct(&limiter);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let available = limiter.available();
        assert!((available - 20.0).abs() < 1e-6, "{available}");
    });
}
