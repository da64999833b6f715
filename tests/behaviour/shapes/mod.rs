//! Every function shape that can be retried: attempts counted, pauses exact, values intact.

// The shapes under test are what these lints would have written otherwise.
#![allow(
    clippy::cast_possible_truncation,
    clippy::let_and_return,
    clippy::manual_async_fn,
    clippy::manual_map,
    clippy::elidable_lifetime_names,
    clippy::needless_lifetimes,
    clippy::needless_match,
    clippy::needless_pass_by_value,
    clippy::needless_question_mark,
    clippy::needless_return,
    clippy::never_loop,
    clippy::non_minimal_cfg,
    clippy::question_mark,
    clippy::unused_async,
    clippy::useless_vec,
    unused_braces
)]

mod arguments;
mod attributes;
mod bodies;
mod expressions;
mod futures;
mod generics;
mod look_alikes;
mod methods;
mod returns;
mod send;
mod traits;

use support::prelude::*;

const MAX: u32 = 3;

/// A server that fails a number of times before it succeeds.
#[derive(Debug)]
struct Flaky {
    failures: u32,
    attempts: AtomicU32,
    policy: Policy,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("busy {0}")]
struct Busy(u32);

impl Flaky {
    fn new(failures: u32, jitter: Jitter) -> Self {
        Self {
            failures,
            attempts: AtomicU32::new(0),
            policy: Policy::new().max(MAX).jitter(jitter),
        }
    }

    /// Fails, or returns the number of the attempt.
    fn answer(&self) -> Result<u32, Busy> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        if attempt <= self.failures {
            Err(Busy(attempt))
        } else {
            Ok(attempt)
        }
    }

    /// The same for a function that gets the prompt "hello".
    fn answer_to(&self, prompt: &str) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }

    fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn check(&self, outcome: Result<u32, String>, pauses: &[Duration], expected: &[Duration]) {
        let retries = self.failures.min(MAX);
        assert_eq!(self.attempts(), retries + 1);
        assert_eq!(pauses, &expected[..retries as usize]);
        if self.failures > MAX {
            assert_eq!(outcome, Err(format!("busy {}", MAX + 1)));
        } else {
            assert_eq!(outcome, Ok(self.failures + 1));
        }
    }
}

const JITTERS: [Jitter; 5] = [
    Jitter::None,
    Jitter::Full,
    Jitter::Equal,
    Jitter::Decorrelated,
    Jitter::Ratio(0.2),
];

/// The pauses of a call that fails every time, as the policy alone makes them.
fn expected_pauses(policy: &Policy, seed: u64) -> Vec<Duration> {
    let _seeded = testing::seed(seed);
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let failed = policy.on(|(): &()| true).call_blocking(|| Err::<(), _>(()));
    assert_eq!(failed, Err(()));
    recording.delays()
}

/// tokio's timer has millisecond granularity and never wakes early.
fn slept(pauses: &[Duration]) -> Duration {
    let millis = |pause: &Duration| pause.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(pauses.iter().map(millis).sum::<u128>()).unwrap())
}

/// The functions under test are called with each of these: success at once, after retries, and never.
fn clients() -> impl Iterator<Item = Flaky> {
    JITTERS
        .into_iter()
        .flat_map(|jitter| [0, 2, u32::MAX].map(|failures| Flaky::new(failures, jitter)))
}

/// Calls an async function of the shape, and counts.
macro_rules! check {
    (|$flaky:ident| $call:expr) => {
        for flaky in $crate::shapes::clients() {
            let ($flaky, expected) = (&flaky, $crate::shapes::expected_pauses(&flaky.policy, 7));
            let _seeded = retry_runtime::testing::seed(7);
            let recording = retry_runtime::testing::record();
            let start = tokio::time::Instant::now();
            let outcome = $call.map_err(|error| error.to_string());
            flaky.check(outcome, &recording.delays(), &expected);
            assert_eq!(start.elapsed(), $crate::shapes::slept(&recording.delays()));
        }
    };
}

/// Like `check`, for a blocking function.
macro_rules! check_blocking {
    (|$flaky:ident| $call:expr) => {
        for flaky in $crate::shapes::clients() {
            let ($flaky, expected) = (&flaky, $crate::shapes::expected_pauses(&flaky.policy, 7));
            let _seeded = retry_runtime::testing::seed(7);
            let skipped = retry_runtime::testing::skip_sleeps();
            let recording = retry_runtime::testing::record();
            let outcome = $call.map_err(|error| error.to_string());
            flaky.check(outcome, &recording.delays(), &expected);
            assert_eq!(skipped.total(), recording.delays().iter().sum());
        }
    };
}
use {check, check_blocking};
