//! Polly's circuit breaker: <https://www.pollydocs.org/strategies/circuit-breaker>, "Diagrams".

use retry_protections::Breaker;
use retry_runtime::seam::BreakerState::{Closed, ForcedOpen, HalfOpen, Open};
use support::rows;

use super::Step::{
    Begin, By, EndsBadly, EndsIgnored, EndsWell, Fails, Is, Passes, Rejected, Succeeds,
};
use super::{Step, follow, secs};

#[tokio::test(start_paused = true)]
async fn diagrams() {
    let rows: [(&str, &[Step]); 8] = rows! {
        "simple, happy", &[Succeeds, Succeeds, Fails, Is(Closed), Succeeds];
        "simple, unhappy", &[Succeeds, Is(Closed), Fails, Is(Open), Rejected];
        "complex, happy",
            &[
                Fails,
                Is(Closed),
                Fails,
                Is(Open),
                Rejected,
                Passes(secs(1)),
                Succeeds,
                Is(Closed),
                Succeeds,
            ];
        "complex, unhappy",
            &[
                Fails,
                Fails,
                Rejected,
                Passes(secs(1)),
                Fails,
                Is(Open),
                Rejected,
                Passes(secs(1)),
                Succeeds,
                Is(Closed),
            ];
        // "the first call is a probe; others are rejected until it has ended".
        "half open, concurrently, happy",
            &[
                Fails,
                Fails,
                Passes(secs(1)),
                Begin(100, 1),
                Is(HalfOpen),
                Rejected,
                EndsWell,
                Is(Closed),
                Begin(100, 100),
            ];
        "half open, concurrently, unhappy",
            &[Fails, Fails, Passes(secs(1)), Begin(100, 1), EndsBadly, Is(Open), Rejected];
        "half open, handled neither way",
            &[
                Fails,
                Fails,
                Passes(secs(1)),
                Begin(2, 1),
                EndsIgnored,
                Is(HalfOpen),
                Begin(2, 1),
                EndsWell,
                Is(Closed),
            ];
        // "holds it in this state until a call to `CloseAsync`", which "resets any statistics".
        "CircuitBreakerManualControl",
            &[
                Fails,
                By(Breaker::force_open),
                Is(ForcedOpen),
                Rejected,
                Passes(secs(60)),
                Rejected,
                By(Breaker::reset),
                Fails,
                Is(Closed),
            ];
    };
    for (name, steps) in rows {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(2);
        let breaker = breaker.window(secs(2)).open_for(secs(1));
        follow(name, breaker, steps).await;
    }
}
