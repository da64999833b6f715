//! Numbers and sequences that other projects publish, by source. Ours are the same, or a comment explains the
//! difference.

// The code under test takes errors by reference and whole numbers of tokens.
#![allow(clippy::float_cmp, clippy::trivially_copy_pass_by_ref)]

mod aws;
mod aws_token_bucket;
mod breakers;
mod grpc;
mod microprofile;

use support::held_permit::FAILED;
use support::prelude::*;

/// Follows a documented sequence for a breaker, which is a text of steps:
///
/// - `succeeds`, `fails`, `ignored` and `rejected` are calls that end at once; `fails*2` are two;
/// - `100/1` starts 100 calls, of which one is admitted and keeps running;
/// - `ends-well`, `ends-badly` and `ends-ignored` end the call that has run longest;
/// - `5s` passes that time;
/// - `force-open`, `force-closed` and `reset` are done by an operator;
/// - `HalfOpen` is the state that the breaker must have then.
async fn follow(name: &str, breaker: &Breaker, steps: &str) {
    let mut running = VecDeque::new();
    for (number, step) in steps.split(' ').enumerate() {
        let place = format!("{name}, step {number}: {step}");
        let (step, times) = step.split_once('*').unwrap_or((step, "1"));
        for _ in 0..times.parse().expect("a number") {
            match step {
                "succeeds" | "fails" | "ignored" | "rejected" => {
                    let permit = breaker.admit();
                    assert_eq!(permit.is_some(), step != "rejected", "{place}");
                    permit.and_then(|permit| breaker.record(permit, outcome(step)));
                }
                "ends-well" | "ends-badly" | "ends-ignored" => {
                    let permit = running.pop_front().expect("a running call");
                    breaker.record(permit, outcome(step));
                }
                "force-open" => breaker.force_open(),
                "force-closed" => breaker.force_closed(),
                "reset" => breaker.reset(),
                _ => other_step(breaker, step, &mut running, &place).await,
            }
        }
    }
}

async fn other_step(breaker: &Breaker, step: &str, running: &mut VecDeque<Permit>, place: &str) {
    if let Some((calls, admitted)) = step.split_once('/') {
        let calls = 0..calls.parse::<usize>().expect("a number");
        let begun: Vec<_> = calls.filter_map(|_| breaker.admit()).collect();
        assert_eq!(begun.len().to_string(), admitted, "{place}");
        running.extend(begun);
    } else if let Some(seconds) = step.strip_suffix('s') {
        advance(secs(seconds.parse().expect("a number"))).await;
    } else {
        assert_eq!(format!("{:?}", breaker.state()), step, "{place}");
    }
}

fn outcome(step: &str) -> AttemptOutcome {
    match step {
        "succeeds" | "ends-well" => AttemptOutcome::Success,
        "fails" | "ends-badly" => FAILED,
        _ => AttemptOutcome::Ignored,
    }
}
