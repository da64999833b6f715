//! A fixed limit for concurrent calls, and a limit for waiting calls.

use futures::future::join_all;
use support::prelude::*;

use crate::limiters::{millis, secs};

/// The error of a call.
#[derive(Classify, Debug, PartialEq)]
#[classify(stop)]
struct Error(RejectedBy);

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.by())
    }
}

#[retry(max = 0, limiter = limiter)]
async fn work(limiter: &ConcurrencyLimiter) -> Result<(), Error> {
    sleep(millis(50)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_share_five_slots() {
    let five = || ConcurrencyLimiter::fixed(5);
    for (limiter, by, after) in [
        (five().max_wait(secs(1)), RejectedBy::Limiter, secs(1)),
        (five().queue(95), RejectedBy::Full, secs(0)),
    ] {
        let start = Instant::now();
        let calls = (0..1000).map(|_| async {
            let ended = work(&limiter).await;
            (ended, start.elapsed())
        });
        let ended = join_all(calls).await;
        assert_eq!(start.elapsed(), secs(1));
        let rejected = (Err(Error(by)), after);
        assert_eq!(ended.iter().filter(|end| **end == rejected).count(), 900);
        assert_eq!(ended.iter().filter(|end| end.0.is_ok()).count(), 100);
        assert_eq!(limiter.to_string(), "0 of 5 running, 0 waiting");
    }
}

#[test]
fn without_a_queue_a_call_starts_at_once_or_is_rejected() {
    #[retry(max = 3, backoff = "none", limiter = limiter)]
    fn within(limiter: &ConcurrencyLimiter, depth: u32) -> Result<(), Error> {
        depth
            .checked_sub(1)
            .map_or(Ok(()), |depth| within(limiter, depth))
    }

    let two = || ConcurrencyLimiter::fixed(2);
    for (limiter, by) in [
        (two().queue(0), RejectedBy::Full),
        (two().max_wait(secs(0)), RejectedBy::Limiter),
    ] {
        assert_eq!(within(&limiter, 1), Ok(()));
        assert_eq!(within(&limiter, 2), Err(Error(by)));
        assert_eq!(limiter.to_string(), "0 of 2 running, 0 waiting");
    }
}

#[tokio::test(start_paused = true)]
async fn an_absent_waiter_takes_no_room_in_the_queue() {
    let limiter = ConcurrencyLimiter::fixed(1).queue(1);
    let (mut running, mut absent) = (Box::pin(work(&limiter)), Box::pin(work(&limiter)));
    assert!(futures::poll!(running.as_mut()).is_pending());
    assert!(futures::poll!(absent.as_mut()).is_pending());
    assert_eq!(running.await, Ok(()));
    // Its turn came, but it isn't polled.
    assert_eq!(limiter.to_string(), "0 of 1 running, 1 waiting");
    sleep(secs(2)).await;
    assert_eq!(work(&limiter).await, Ok(()));
    assert_eq!(absent.await, Ok(()));
}
