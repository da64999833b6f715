//! The effect of every key of the attribute.

// The code under test takes errors by reference, and policies and `GaveUp` by value.
#![allow(
    clippy::cast_possible_truncation,
    clippy::erasing_op,
    clippy::large_types_passed_by_value,
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self
)]

/// Retried functions whose attempts have the outcomes of a script, which is their last argument.
macro_rules! scripted {
    () => {};
    ($(#[$key:meta])* async fn $name:ident($($arg:ident: $type:ty),*); $($more:tt)*) => {
        $(#[$key])*
        async fn $name($($arg: $type,)* script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }
        scripted! { $($more)* }
    };
    ($(#[$key:meta])* fn $name:ident($($arg:ident: $type:ty),*); $($more:tt)*) => {
        $(#[$key])*
        fn $name($($arg: $type,)* script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }
        scripted! { $($more)* }
    };
}

mod abort;
mod attempt;
mod backoff;
mod blocking_timer;
mod breaker;
mod breakers;
mod budget;
mod budgets;
mod by_macros;
mod cancel;
mod clone;
mod deadline;
mod dropped;
mod enabled;
mod endings;
mod failures;
mod hint;
mod history;
mod hooks;
mod idempotent;
mod jitter;
mod kinds;
mod limiter;
mod max;
mod name;
mod observe;
mod on;
mod policies;
mod policy;
mod progress;
mod rejected;
mod repeats;
mod shared;
mod switched;
mod team;
mod timeout;
mod timer;
mod total_timeout;
mod turns;
mod until;

use support::failure::Failure;
pub(crate) use support::time::{millis, secs};

/// The outcomes of a call's attempts, in order. Counts the attempts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: Vec<Failure>,
    pub(crate) attempts: usize,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Failure>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            attempts: 0,
        }
    }

    /// The next failure, or the number of the attempt once there is none.
    pub(crate) fn next(&mut self) -> Result<usize, Failure> {
        self.attempts += 1;
        match self.steps.get(self.attempts - 1) {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.attempts),
        }
    }
}
