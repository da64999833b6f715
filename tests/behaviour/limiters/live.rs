//! Numbers that an operator changes while calls wait.

use std::time::Duration;

use futures::future::join_all;
use retry_runtime::{ConcurrencyLimiter, End, Limiter, RateLimiter};
use tokio::time::{Instant, sleep};

use crate::limiters::{millis, secs, turn};

/// When four attempts of a second begin that enter now, while `change` is made at once, in milliseconds.
async fn begins<L: Limiter>(limiter: &L, change: impl FnOnce()) -> Vec<u128> {
    let start = Instant::now();
    let attempts = (0..4).map(|_| async {
        let ticket = turn(limiter, 1).await;
        let began = start.elapsed();
        sleep(secs(1)).await;
        limiter.leave(ticket, End::Success);
        began.as_millis()
    });
    let change = async {
        sleep(millis(1)).await;
        change();
    };
    futures::future::join(join_all(attempts), change).await.0
}

#[tokio::test(start_paused = true)]
async fn limits_rates_and_quotas_change_while_calls_wait() {
    let places = ConcurrencyLimiter::fixed(1);
    let more = || places.set_limits(3..=3).unwrap();
    assert_eq!(begins(&places, more).await, [0, 1, 1, 1000]);
    assert_eq!(places.limit(), 3);

    let fewer = || places.set_limits(1..=1).unwrap();
    assert_eq!(begins(&places, fewer).await, [0, 0, 0, 1000]);

    let fixed = RateLimiter::fixed(1, secs(1));
    let slower = || fixed.set_amount(60).unwrap();
    assert_eq!(begins(&fixed, slower).await, [0, 1000, 1017, 1034]);

    let quota = RateLimiter::quota(60, 60_000).burst(2);
    let slower = || quota.set_requests(6).unwrap();
    assert_eq!(begins(&quota, slower).await[..2], [0, 0]);

    let found = RateLimiter::adaptive().start(1.0);
    assert_eq!(
        begins(&found, || found.set_most(0.1).unwrap()).await[..2],
        [0, 1000]
    );
    assert_eq!(found.rate().to_string(), "0.1");
}

#[test]
fn nonsense_changes_nothing() {
    let places = ConcurrencyLimiter::aimd();
    #[expect(clippy::reversed_empty_ranges, reason = "the nonsense")]
    let nonsense = [0..=5, 9..=8];
    for limits in nonsense {
        assert!(places.set_limits(limits).is_err());
    }
    assert_eq!(places.limit(), 20);
    let fixed = RateLimiter::fixed(7, Duration::from_secs(1));
    assert!(fixed.set_amount(0).is_err());
    assert!(fixed.set_requests(1).is_err());
    assert!(RateLimiter::quota(1, 1).set_requests(0).is_err());
    assert_eq!(fixed.rate().to_string(), "7");
    for rate in [0.0, -1.0, f64::NAN] {
        assert!(RateLimiter::adaptive().set_most(rate).is_err());
    }
}
