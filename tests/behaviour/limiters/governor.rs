//! A rate limiter of the crate governor as the gate.

use std::num::NonZeroU32;

use governor::Quota;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use support::prelude::*;

use crate::limiters::{begins, ended, millis, secs, succeed, turn};

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

/// In an endless stream of attempts that cost one, an attempt that costs ten starts after those before it. With
/// governor alone, it would never start.
#[tokio::test(start_paused = true)]
async fn a_large_cost_gets_its_turn() {
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
