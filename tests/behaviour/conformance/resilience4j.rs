//! resilience4j's circuit breaker: <https://resilience4j.readme.io/docs/circuitbreaker> and
//! `CircuitBreakerStateMachineTest.java`.
//!
//! It differs in two things: a success never opens ours, and one trial call that fails does.

use retry_runtime::Breaker;
use retry_runtime::BreakerState::{Closed, HalfOpen, Open};

use super::Step::{
    Begin, EndsBadly, EndsIgnored, EndsWell, Fails, Ignored, Is, Passes, Rejected, Succeeds,
};
use super::{Step, follow, secs};

#[tokio::test(start_paused = true)]
async fn settings() {
    let nine = [Fails; 9];
    let of_ten = [nine.as_slice(), &[Is(Closed), Fails, Is(Open)]].concat();
    let rows: [(&str, u32, &[Step]); 8] = [
        ("minimumNumberOfCalls", 10, &of_ten),
        (
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
            ],
        ),
        (
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
            ],
        ),
        (
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
            ],
        ),
        (
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
            ],
        ),
        (
            "failureRateThreshold",
            5,
            &[Fails, Fails, Fails, Succeeds, Is(Closed), Fails, Is(Open)],
        ),
        (
            "ignoreExceptions",
            2,
            &[Ignored, Ignored, Fails, Is(Closed), Fails, Is(Open)],
        ),
        (
            "TIME_BASED",
            3,
            &[Fails, Fails, Passes(secs(6)), Fails, Is(Closed)],
        ),
    ];
    for (name, minimum, steps) in rows {
        let breaker = Breaker::new().ratio(0.5).minimum_calls(minimum);
        let breaker = breaker.window(secs(5)).open_for(secs(5)).trial_calls(4);
        follow(name, breaker, steps).await;
    }
}
