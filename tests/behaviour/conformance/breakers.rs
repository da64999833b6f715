//! The circuit breakers of other libraries:
//!
//! - Polly: <https://www.pollydocs.org/strategies/circuit-breaker>, "Diagrams".
//! - resilience4j: <https://resilience4j.readme.io/docs/circuitbreaker> and `CircuitBreakerStateMachineTest.java`. Our
//!   breaker differs in two ways: with a time window, a success never opens it, and one failed trial call does, unless
//!   `trial_successes` tolerates the failure.

use support::prelude::*;

use super::{follow, secs};

#[tokio::test(start_paused = true)]
async fn diagrams_of_polly() {
    for (name, steps) in rows! {
        "simple, happy", "succeeds*2 fails Closed succeeds";
        "simple, unhappy", "succeeds Closed fails Open rejected";
        "complex, happy", "fails Closed fails Open rejected 1s succeeds Closed succeeds";
        "complex, unhappy", "fails*2 rejected 1s fails Open rejected 1s succeeds Closed";
        // "the first call is a probe; others are rejected until it has ended".
        "half open, concurrently, happy", "fails*2 1s 100/1 HalfOpen rejected ends-well Closed 100/100";
        "half open, concurrently, unhappy", "fails*2 1s 100/1 ends-badly Open rejected";
        "half open, handled neither way", "fails*2 1s 2/1 ends-ignored HalfOpen 2/1 ends-well Closed";
        // "holds it in this state until a call to `CloseAsync`", which "resets any statistics".
        "CircuitBreakerManualControl", "fails force-open ForcedOpen rejected 60s rejected reset fails Closed";
    } {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(2);
        let breaker = breaker.window(secs(2)).open_for(secs(1));
        follow(name, &breaker, steps).await;
    }
}

#[tokio::test(start_paused = true)]
async fn settings_of_resilience4j() {
    for (name, minimum, steps) in rows! {
        "minimumNumberOfCalls", 10, "fails*9 Closed fails Open";
        "waitDurationInOpenState, permittedNumberOfCallsInHalfOpenState", 1,
            "fails Open rejected 3s rejected Open 3s succeeds HalfOpen succeeds*2 HalfOpen succeeds Closed";
        // A call that has ended still counts.
        "permittedNumberOfCallsInHalfOpenState, concurrently", 1,
            "fails 5s 10/4 HalfOpen ends-well rejected ends-well*2 HalfOpen ends-well Closed 10/10";
        "a permission that is released", 1, "fails 5s 10/4 ends-ignored*2 10/2 ends-well*4 Closed";
        // The last two end too late to change anything.
        "a failed trial among others", 1, "fails 5s 4/4 ends-well ends-badly Open ends-well*2 Open rejected";
        "failureRateThreshold", 5, "fails*3 succeeds Closed fails Open";
        "ignoreExceptions", 2, "ignored*2 fails Closed fails Open";
        "TIME_BASED", 3, "fails*2 6s fails Closed";
    } {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(minimum);
        let breaker = breaker.window(secs(5)).open_for(secs(5)).trial_calls(4);
        follow(name, &breaker, steps).await;
    }
}

/// `1/1 2s ends-well` is a call that takes two seconds, if one second counts as slow.
#[tokio::test(start_paused = true)]
async fn other_breakers_of_resilience4j() {
    let slow = || Breaker::new().count_window(4).slow(secs(1), 0.5);
    for (name, breaker, steps) in rows! {
        "COUNT_BASED: the oldest of the window goes", Breaker::new().ratio(0.5).count_window(3),
            "fails succeeds*2 Closed fails Closed 999s fails Open";
        "COUNT_BASED: successes between failures all count", Breaker::new().count_window(10).ratio(0.2),
            "succeeds*300 fails succeeds*9 fails Closed fails Open";
        "slowCallRateThreshold: a success may open it", slow(),
            "succeeds*2 1/1 2s ends-well Closed 1/1 2s ends-well Open";
        "slowCallRateThreshold over a window of time", Breaker::new().minimum_calls(2).slow(secs(1), 1.0),
            "1/1 2s ends-well 1/1 2s ends-well Open rejected*2";
        "slowCallDurationThreshold: a slow trial call fails", slow().consecutive_failures(1),
            "fails 5s 1/1 2s ends-well Open";
        "permittedNumberOfCallsInHalfOpenState, with a rate",
            Breaker::new().consecutive_failures(1).trial_calls(3).trial_successes(2),
            "fails 5s fails HalfOpen fails Open 5s succeeds fails HalfOpen succeeds Closed";
        "transitionToForcedOpenState, reset", Breaker::new().count_window(2).ratio(1.0),
            "fails force-open ForcedOpen 999s rejected reset Closed fails Closed fails Open reset \
             Closed succeeds";
        "transitionToDisabledState", Breaker::new().consecutive_failures(1),
            "1/1 fails Open force-closed ForcedClosed fails ends-badly fails ForcedClosed reset \
             Closed fails Open";
    } {
        follow(name, &breaker, steps).await;
    }
}
