//! Polly's circuit breaker: <https://www.pollydocs.org/strategies/circuit-breaker>, "Diagrams".

use support::prelude::*;

use super::{follow, secs};

#[tokio::test(start_paused = true)]
async fn diagrams() {
    for (name, steps) in rows! {
        "simple, happy", "succeeds*2 fails Closed succeeds";
        "simple, unhappy", "succeeds Closed fails Open rejected";
        "complex, happy", "fails Closed fails Open rejected 1s succeeds Closed succeeds";
        "complex, unhappy", "fails*2 rejected 1s fails Open rejected 1s succeeds Closed";
        // "the first call is a probe; others are rejected until it has ended".
        "half open, concurrently, happy",
            "fails*2 1s 100/1 HalfOpen rejected ends-well Closed 100/100";
        "half open, concurrently, unhappy", "fails*2 1s 100/1 ends-badly Open rejected";
        "half open, handled neither way",
            "fails*2 1s 2/1 ends-ignored HalfOpen 2/1 ends-well Closed";
        // "holds it in this state until a call to `CloseAsync`", which "resets any statistics".
        "CircuitBreakerManualControl",
            "fails force-open ForcedOpen rejected 60s rejected reset fails Closed";
    } {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(2);
        let breaker = breaker.window(secs(2)).open_for(secs(1));
        follow(name, &breaker, steps).await;
    }
}
