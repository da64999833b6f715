//! Hints of concurrent attempts: all of them delay the call, and each attempt reports its own hint to the protections.

use support::prelude::*;

use crate::hedge::protections::{Notes, Slots};
use crate::hedge::{Server, answer, fails, millis};

const HINT: Duration = Duration::from_secs(90);

asks!(fn noted(notes: &Notes, slots: &Slots),
    hedge = "200ms", max = 3, jitter = "none", breaker = notes, limiter = slots);

#[tokio::test(start_paused = true)]
async fn breaker_and_limiter_record_each_attempt_separately() {
    let hinted = Failure(Verdict::TRANSIENT.after(HINT));
    for (first, second) in [
        (throttled_for(HINT), TRANSIENT),
        (hinted.clone(), THROTTLED),
        (THROTTLED, hinted),
    ] {
        let script = [
            fails(300, first.clone()),
            fails(200, second.clone()),
            answer(10),
        ];
        let (server, notes, slots) = (Server::new(script), Notes::default(), Slots::new(9));
        assert_eq!(noted(&server, &notes, &slots).await, Ok(3));
        // The call itself waits as long as it was asked to in any of them.
        assert_eq!(server.seen().began, [0, 200, 90_400]);
        let own = [first.0, second.0].map(|verdict| {
            let kind = verdict.kind().expect("worth a retry");
            Some((kind, verdict.hint()))
        });
        for outcomes in [slots.ends.take(), notes.outcomes.take()] {
            let outcomes: Vec<_> = outcomes
                .into_iter()
                .map(|(_, outcome)| failure_of(outcome))
                .collect();
            assert_eq!(outcomes, [own[0], own[1], None]);
        }
    }
}

/// The kind and hint of a failure.
fn failure_of(outcome: AttemptOutcome) -> Option<(Kind, Option<Duration>)> {
    match outcome {
        AttemptOutcome::Failure { kind, hint } => Some((kind, hint)),
        _ => None,
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
