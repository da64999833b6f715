//! A rate limiter of the crate governor as the gate.

use std::num::NonZeroU32;

use governor::Quota;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use support::prelude::*;

use crate::limiters::{begins, ended, millis, refused, secs, succeed, turn};

/// Tokio's clock, since its start.
#[derive(Clone)]
struct Paused(Instant);

impl Clock for Paused {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

const fn cells(cells: u32) -> NonZeroU32 {
    NonZeroU32::new(cells).expect("not zero")
}

type Governor = governor::RateLimiter<NotKeyed, InMemoryState, Paused, NoOpMiddleware<Duration>>;

/// Ten at once, then one per second.
fn ten() -> Governor {
    let quota = Quota::per_minute(cells(60)).allow_burst(cells(10));
    governor::RateLimiter::direct_with_clock(quota, Paused(Instant::now()))
}

#[tokio::test(start_paused = true)]
async fn attempts_start_when_governor_allows() {
    let shared = Arc::new(ten());
    let limiter = RateLimiter::governor(Arc::clone(&shared));
    assert_eq!(begins(&limiter, &[0, 9, 1, 2]).await, [0, 0, 0, 2000]);
    // Capacity that others take from governor is missing here.
    sleep(secs(1)).await;
    assert!(shared.check().is_ok());
    assert_eq!(begins(&limiter, &[1]).await, [1000]);
    // More than it ever allows takes all.
    assert_eq!(begins(&limiter, &[1000, 1]).await, [10_000, 11_000]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_holds_back_all() {
    let limiter = RateLimiter::governor(Arc::new(ten()));
    ended(&limiter, 1, refused(secs(30))).await;
    assert_eq!(begins(&limiter, &[1, 9, 1]).await, [30_000, 30_000, 31_000]);
}

/// Like `until_n_ready`: waits for the time that governor returns, and tries again.
async fn begins_by_itself(limiter: &Governor, cost: u32) {
    while let Ok(Err(not_until)) = limiter.check_n(cells(cost)) {
        sleep(not_until.wait_time_from(limiter.clock().now())).await;
    }
}

/// In an endless stream of attempts that cost one, an attempt that costs ten starts after those before it; with
/// governor alone, it would never start.
#[tokio::test(start_paused = true)]
async fn a_large_cost_gets_its_turn() {
    const PATIENCE: Duration = secs(600);
    let alone = ten();
    assert!(alone.check_n(cells(10)).is_ok());
    let small = async {
        loop {
            begins_by_itself(&alone, 1).await;
        }
    };
    let large = timeout(PATIENCE, begins_by_itself(&alone, 10));
    let begun = tokio::select! {
        begun = large => begun,
        () = small => Ok(()),
    };
    assert!(begun.is_err());

    let limiter = RateLimiter::governor(Arc::new(ten()));
    ended(&limiter, 10, AttemptOutcome::Success).await;
    let small = async {
        loop {
            succeed(&limiter).await;
        }
    };
    let start = Instant::now();
    let large = async {
        sleep(millis(1)).await;
        turn(&limiter, 10).await
    };
    tokio::select! {
        _ = large => {},
        () = small => {},
    }
    // After the one that came before.
    assert_eq!(start.elapsed(), secs(11));
}
