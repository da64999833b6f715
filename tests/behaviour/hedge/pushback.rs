//! Hints of concurrent attempts: all of them delay the call, and each attempt reports its own hint to the protections.

use support::held_permit::{failed, hinted};
use support::prelude::*;

use crate::hedge::protections::{MANY, Slots};
use crate::hedge::{Server, answer, fails, millis};

const HINT: Duration = Duration::from_secs(90);

asks!(fn noted(breaker: &Slots, limiter: &Slots),
    hedge = "200ms", max = 3, jitter = "none", breaker = breaker, limiter = limiter);

#[tokio::test(start_paused = true)]
async fn breaker_and_limiter_record_each_attempt_separately() {
    let (transient, throttled) = (Kind::Transient, Kind::Throttled);
    for (first, second, ends) in rows! {
        throttled_for(HINT), TRANSIENT, [hinted(throttled, HINT), failed(transient)];
        Failure(Verdict::TRANSIENT.after(HINT)), THROTTLED, [hinted(transient, HINT), failed(throttled)];
        THROTTLED, Failure(Verdict::TRANSIENT.after(HINT)), [failed(throttled), hinted(transient, HINT)];
    } {
        let server = Server::new([fails(300, first), fails(200, second), answer(10)]);
        let protections = [Slots::new(MANY), Slots::new(MANY)];
        let [breaker, limiter] = &protections;
        assert_eq!(noted(&server, breaker, limiter).await, Ok(3));
        // The call itself waits as long as it was asked to in any of them.
        assert_eq!(server.seen().began, [0, 200, 90_400]);
        for protection in &protections {
            let expected = [(1, ends[0]), (2, ends[1]), (3, AttemptOutcome::Success)];
            assert_eq!(protection.ends(), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_breaker_stays_open_for_the_hint_that_opened_it() {
    asks!(fn call(breaker: &Breaker), hedge = "200ms", max = 1, jitter = "none", breaker = breaker);

    let breaker = Breaker::new().consecutive_failures(1);
    let server = Server::new([fails(300, throttled_for(HINT)), fails(200, TRANSIENT)]);
    assert_eq!(call(&server, &breaker).await, Err(TRANSIENT));
    assert!(breaker.admit().is_none());
    sleep(millis(5_000)).await;
    assert!(breaker.admit().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hint_delays_only_the_next_attempt() {
    asks!(fn call(), hedge = "200ms", max = 4, backoff = "fixed", jitter = "none", until = |number| *number > 2);

    let server = Server::new([
        fails(300, throttled_for(HINT)),
        answer(200),
        fails(100, TRANSIENT),
        answer(0),
    ]);
    assert_eq!(call(&server).await, Ok(4));
    assert_eq!(server.seen().began, [0, 200, 90_400, 91_500]);
}
