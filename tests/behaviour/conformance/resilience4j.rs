//! resilience4j's circuit breaker: <https://resilience4j.readme.io/docs/circuitbreaker> and
//! `CircuitBreakerStateMachineTest.java`.
//!
//! It differs in two things: over a window of time a success never opens ours, and one trial call that fails does unless
//! `trial_successes` bears it.

use retry_protections::Breaker;
use retry_runtime::seam::BreakerState::{Closed, ForcedClosed, ForcedOpen, HalfOpen, Open};
use support::rows;

use super::Step::{
    Begin, By, EndsBadly, EndsIgnored, EndsWell, Fails, Ignored, Is, Passes, Rejected, Succeeds,
};
use super::{Step, follow, secs};

#[tokio::test(start_paused = true)]
async fn settings() {
    let nine = [Fails; 9];
    let of_ten = [nine.as_slice(), &[Is(Closed), Fails, Is(Open)]].concat();
    let rows: [(&str, u32, &[Step]); 8] = rows! {
        "minimumNumberOfCalls", 10, &of_ten;
        "waitDurationInOpenState, permittedNumberOfCallsInHalfOpenState",
            1,
            &[
                Fails,
                Is(Open),
                Rejected,
                Passes(secs(3)),
                Rejected,
                Is(Open),
                Passes(secs(3)),
                Succeeds,
                Is(HalfOpen),
                Succeeds,
                Succeeds,
                Is(HalfOpen),
                Succeeds,
                Is(Closed),
            ];
        "permittedNumberOfCallsInHalfOpenState, concurrently",
            1,
            &[
                Fails,
                Passes(secs(5)),
                Begin(10, 4),
                Is(HalfOpen),
                EndsWell,
                // Ended, it still counts.
                Rejected,
                EndsWell,
                EndsWell,
                Is(HalfOpen),
                EndsWell,
                Is(Closed),
                Begin(10, 10),
            ];
        "a permission that is released",
            1,
            &[
                Fails,
                Passes(secs(5)),
                Begin(10, 4),
                EndsIgnored,
                EndsIgnored,
                Begin(10, 2),
                EndsWell,
                EndsWell,
                EndsWell,
                EndsWell,
                Is(Closed),
            ];
        "a failed trial among others",
            1,
            &[
                Fails,
                Passes(secs(5)),
                Begin(4, 4),
                EndsWell,
                EndsBadly,
                Is(Open),
                // Too late to change anything.
                EndsWell,
                EndsWell,
                Is(Open),
                Rejected,
            ];
        "failureRateThreshold", 5, &[Fails, Fails, Fails, Succeeds, Is(Closed), Fails, Is(Open)];
        "ignoreExceptions", 2, &[Ignored, Ignored, Fails, Is(Closed), Fails, Is(Open)];
        "TIME_BASED", 3, &[Fails, Fails, Passes(secs(6)), Fails, Is(Closed)];
    };
    for (name, minimum, steps) in rows {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(minimum);
        let breaker = breaker.window(secs(5)).open_for(secs(5)).trial_calls(4);
        follow(name, breaker, steps).await;
    }
}

/// A call that takes two seconds, if one second counts as slow.
const SLOW: [Step; 3] = [Begin(1, 1), Passes(secs(2)), EndsWell];

#[tokio::test(start_paused = true)]
async fn counts_slow_calls() {
    let of_three = Breaker::new().ratio(0.5).count_window(3);
    let slow = || Breaker::new().count_window(4).slow(secs(1), 0.5);
    let rows: [(&str, Breaker, Vec<Step>); 5] = rows! {
        "COUNT_BASED: the oldest of the window goes",
            of_three,
            vec![
                Fails,
                Succeeds,
                Succeeds,
                Is(Closed),
                Fails,
                Is(Closed),
                Passes(secs(999)),
                Fails,
                Is(Open),
            ];
        "COUNT_BASED: successes between failures all count",
            Breaker::new().count_window(10).ratio(0.2),
            [
                vec![Succeeds; 300],
                vec![Fails],
                vec![Succeeds; 9],
                vec![Fails, Is(Closed), Fails, Is(Open)],
            ]
            .concat();
        "slowCallRateThreshold: a success may open it",
            slow(),
            [
                vec![Succeeds, Succeeds],
                SLOW.to_vec(),
                vec![Is(Closed)],
                SLOW.to_vec(),
                vec![Is(Open)],
            ]
            .concat();
        "slowCallRateThreshold over a window of time",
            Breaker::new().minimum_calls(2).slow(secs(1), 1.0),
            [SLOW, SLOW, [Is(Open), Rejected, Rejected]].concat();
        "slowCallDurationThreshold: a slow trial call fails", slow().consecutive_failures(1),
            [vec![Fails, Passes(secs(5))], SLOW.to_vec(), vec![Is(Open)]].concat();
    };
    for (name, breaker, steps) in rows {
        follow(name, breaker, &steps).await;
    }
}

#[tokio::test(start_paused = true)]
async fn obeys_operators_and_counts_trials() {
    let rows: [(&str, Breaker, Vec<Step>); 3] = rows! {
        "permittedNumberOfCallsInHalfOpenState, with a rate",
            Breaker::new()
                .consecutive_failures(1)
                .trial_calls(3)
                .trial_successes(2),
            vec![
                Fails,
                Passes(secs(5)),
                Fails,
                Is(HalfOpen),
                Fails,
                Is(Open),
                Passes(secs(5)),
                Succeeds,
                Fails,
                Is(HalfOpen),
                Succeeds,
                Is(Closed),
            ];
        "transitionToForcedOpenState, reset",
            Breaker::new().count_window(2).ratio(1.0),
            vec![
                Fails,
                By(Breaker::force_open),
                Is(ForcedOpen),
                Passes(secs(999)),
                Rejected,
                By(Breaker::reset),
                Is(Closed),
                Fails,
                Is(Closed),
                Fails,
                Is(Open),
                By(Breaker::reset),
                Is(Closed),
                Succeeds,
            ];
        "transitionToDisabledState",
            Breaker::new().consecutive_failures(1),
            vec![
                Begin(1, 1),
                Fails,
                Is(Open),
                By(Breaker::force_closed),
                Is(ForcedClosed),
                Fails,
                EndsBadly,
                Fails,
                Is(ForcedClosed),
                By(Breaker::reset),
                Is(Closed),
                Fails,
                Is(Open),
            ];
    };
    for (name, breaker, steps) in rows {
        follow(name, breaker, &steps).await;
    }
}
