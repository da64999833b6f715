//! A gate whose tokens are granted from outside.

use std::sync::atomic::Ordering::SeqCst;

use retry_protections::Leased;
use support::prelude::*;
use tokio::time::sleep_until;

use crate::limiters::{millis, refused, secs, turn};

static NONE: RateLimiter<Leased> = RateLimiter::leased();

/// Spawns an attempt that counts itself once it starts, and ends at once.
fn spawn_counted(limiter: &Arc<RateLimiter<Leased>>, cost: u32, begun: &Arc<AtomicU32>) {
    let (limiter, begun) = (Arc::clone(limiter), Arc::clone(begun));
    tokio::spawn(async move {
        let ticket = turn(&*limiter, cost).await;
        begun.fetch_add(1, SeqCst);
        limiter.leave(ticket, AttemptOutcome::Ignored);
    });
}

#[tokio::test(start_paused = true)]
async fn attempts_start_in_order_as_room_is_granted() {
    let limiter = Arc::new(RateLimiter::leased());
    let begun = Arc::new(AtomicU32::new(0));
    for cost in [2, 1, 3] {
        spawn_counted(&limiter, cost, &begun);
        yield_now().await;
    }
    // The first's cost, and one for each behind it.
    assert_eq!((limiter.lacking(), limiter.waiting()), (4, 3));
    for (granted, expected, lacking) in [(1, 0, 3), (1, 1, 2), (2, 2, 2), (0, 2, 2), (2, 3, 0)] {
        limiter.grant(granted);
        for _ in 0..3 {
            yield_now().await;
        }
        assert_eq!((begun.load(SeqCst), limiter.lacking()), (expected, lacking));
    }
    assert_eq!((limiter.revoke(), limiter.waiting()), (0, 0));
}

#[test]
fn remaining_room_can_be_revoked() {
    let limiter = RateLimiter::leased();
    limiter.grant(3);
    let ticket = limiter.enter(1);
    assert_eq!(limiter.revoke(), 2);
    // It never started, and another attempt gets its room.
    limiter.leave(ticket, AttemptOutcome::NotBegun);
    let mut second = limiter.enter(1);
    assert_eq!(
        limiter.poll(&mut second, Waker::noop()),
        Admission::Admitted
    );
    limiter.leave(second, AttemptOutcome::Ignored);
    assert_eq!(limiter.revoke(), 0);
    limiter.grant(u64::MAX);
    limiter.grant(u64::MAX);
    assert_eq!(limiter.revoke(), u64::MAX);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_room_and_no_longer_than_they_may() {
    #[retry(limiter = &NONE, deadline = "5s")]
    async fn call() -> Result<u32, Rejected> {
        Ok(42)
    }

    let start = Instant::now();
    assert_eq!(call().await.unwrap_err().by(), RejectedBy::Deadline);
    assert_eq!(start.elapsed(), secs(5));
    // An attempt that is gone isn't counted as lacking.
    assert_eq!(NONE.lacking(), 0);
    let granted = async {
        sleep(secs(2)).await;
        NONE.grant(1);
    };
    let (outcome, ()) = tokio::join!(call(), granted);
    assert_eq!(outcome.unwrap(), 42);
    assert_eq!(start.elapsed(), secs(7));
}

/// Room that is granted in a pause would be spent on top of what comes after it.
#[tokio::test(start_paused = true)]
async fn no_room_is_lacking_during_a_servers_pause() {
    let limiter = Arc::new(RateLimiter::leased());
    limiter.grant(1);
    let first = turn(&*limiter, 1).await;
    let begun = Arc::new(AtomicU32::new(0));
    for _ in 0..100 {
        spawn_counted(&limiter, 1, &begun);
    }
    sleep(millis(1)).await;
    assert_eq!((limiter.lacking(), limiter.lacking_for_first()), (100, 1));
    limiter.leave(first, refused(secs(30)));
    let end = Instant::now() + secs(30);
    limiter.grant(7);
    for _ in 0..2 {
        assert_eq!((limiter.lacking(), limiter.lacking_for_first()), (0, 0));
        sleep(millis(14_500)).await;
    }
    assert_eq!((limiter.revoke_unused(), limiter.revoke_unused()), (7, 0));
    // Then one, and twice as many each second: at most as many are lacking as may start.
    for (second, lacking) in [(0, 1), (1, 2), (2, 5), (5, 45), (6, 90), (7, 100)] {
        sleep_until(end + secs(second) + millis(500)).await;
        assert_eq!(limiter.lacking(), lacking, "{second}");
    }
    limiter.grant(1);
    sleep(millis(1)).await;
    assert_eq!((begun.load(SeqCst), limiter.lacking()), (1, 99));
}

#[test]
fn room_too_small_for_the_first_can_be_revoked() {
    let limiter = RateLimiter::leased();
    limiter.grant(5);
    let first = limiter.enter(8);
    let second = limiter.enter(1);
    assert_eq!((limiter.lacking(), limiter.lacking_for_first()), (4, 3));
    assert_eq!(limiter.revoke_unused(), 5);
    assert_eq!((limiter.lacking(), limiter.lacking_for_first()), (9, 8));
    limiter.grant(9);
    assert_eq!(limiter.revoke_unused(), 0);
    limiter.leave(first, AttemptOutcome::NotBegun);
    limiter.leave(second, AttemptOutcome::NotBegun);
    assert_eq!(limiter.revoke_unused(), 9);
}
