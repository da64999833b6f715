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
    let faster = || fixed.set_amount(60).unwrap();
    assert_eq!(begins(&fixed, faster).await, [0, 18, 35, 51]);

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

#[tokio::test(start_paused = true)]
async fn what_runs_gives_back_what_it_was_charged() {
    for amount in [6000, 60_000, 600_000] {
        let fixed = RateLimiter::fixed(60_000, secs(60)).burst(32_000);
        let mut tickets = Vec::new();
        for _ in 0..4 {
            tickets.push(turn(&fixed, 8000).await);
        }
        fixed.set_amount(amount).unwrap();
        assert_eq!(fixed.available(), 0.0, "{amount}");
        for _ in &tickets {
            fixed.settle(8000, 1000);
        }
        assert_eq!(fixed.available(), 28_000.0, "{amount}");

        let requests = amount / 1000;
        let quota = RateLimiter::quota(60, 60_000).burst(2);
        let begun = [turn(&quota, 0).await, turn(&quota, 0).await];
        quota.set_requests(requests).unwrap();
        assert_eq!(quota.available(), 0.0, "{requests}");
        for ticket in begun {
            quota.leave(ticket, End::NotBegun);
        }
        assert!(quota.available() > 0.0, "{requests}");
    }

    let found = RateLimiter::adaptive().start(100.0);
    let early = turn(&found, 1).await;
    sleep(millis(10)).await;
    found.set_most(0.1).unwrap();
    let _late = turn(&found, 1).await;
    found.leave(early, End::NotBegun);
    assert_eq!(found.available(), 0.0);
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
