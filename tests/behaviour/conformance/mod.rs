//! Numbers and sequences that others published, in one file for each source. Ours are the same, or a comment explains
//! why not.

// The code under test takes errors by reference and whole numbers of tokens.
#![allow(clippy::float_cmp, clippy::trivially_copy_pass_by_ref)]

mod aws;
mod aws_token_bucket;
mod grpc;
mod microprofile;
mod polly;
mod reqwest_retry;
mod resilience4j;

use std::time::Duration;

use retry_protections::Breaker;
use retry_runtime::seam::{AttemptOutcome, BreakerState};
use support::held_permit::{Admit, FAILED};
use support::time::{millis, secs};
use tokio::time::advance;

/// A step of a documented sequence for a breaker.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call that succeeds, fails, or is ignored.
    Succeeds,
    Fails,
    Ignored,
    /// A call that is not let through.
    Rejected,
    /// Starts a number of calls at once, of which the second number are admitted and keep running.
    Begin(usize, usize),
    /// The longest running of these calls ends.
    EndsWell,
    EndsBadly,
    EndsIgnored,
    Passes(Duration),
    /// An operator does that.
    By(fn(&Breaker)),
    Is(BreakerState),
}

async fn follow(name: &str, breaker: Breaker, steps: &[Step]) {
    let mut under_way = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let place = format!("{name}, step {number}");
        let (seen, is_admitted) = match step {
            Step::Succeeds => (AttemptOutcome::Success, true),
            Step::Fails => (FAILED, true),
            Step::Ignored => (AttemptOutcome::Ignored, true),
            Step::Rejected => (AttemptOutcome::Ignored, false),
            Step::Begin(calls, admitted) => {
                let before = under_way.len();
                under_way.extend((0..*calls).filter_map(|_| breaker.admit()));
                assert_eq!(under_way.len() - before, *admitted, "{place}");
                continue;
            }
            Step::EndsWell | Step::EndsBadly | Step::EndsIgnored => {
                let seen = match step {
                    Step::EndsWell => AttemptOutcome::Success,
                    Step::EndsBadly => FAILED,
                    _ => AttemptOutcome::Ignored,
                };
                breaker.record(under_way.remove(0), seen);
                continue;
            }
            Step::Passes(duration) => {
                advance(*duration).await;
                continue;
            }
            Step::By(operator) => {
                operator(&breaker);
                continue;
            }
            Step::Is(state) => {
                assert_eq!(breaker.state(), *state, "{place}");
                continue;
            }
        };
        let pass = breaker.admit();
        assert_eq!(pass.is_some(), is_admitted, "{place}");
        if let Some(pass) = pass {
            breaker.record(pass, seen);
        }
    }
}
