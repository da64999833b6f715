//! The keys `before_pause` and `before_retry`.

use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use crate::call::attempt::Attempt;
use crate::call::next_attempt::NextAttempt;
use crate::call::state::Call;

/// The error of the attempt before, if it failed with one.
pub fn last_error<E, K>(attempt: &Attempt<E, K>, failed: bool) -> Option<&E> {
    attempt.last_error().filter(|_| failed)
}

pub fn next_attempt(call: &Call, pause: Duration) -> NextAttempt {
    NextAttempt::new(call.attempt(), pause)
}

// `F` has no bound: the error about a wrong future or outcome appears once, at `.await`.
pub fn hook<'a, E, F>(
    error: &'a E,
    next: NextAttempt,
    hook: impl FnOnce(&'a E, NextAttempt) -> F,
) -> F {
    hook(error, next)
}

/// What a hook returns.
#[diagnostic::on_unimplemented(
    message = "what runs before a retry can't return `{Self}`",
    label = "neither `()` nor a `Result<(), _>`",
    note = "return `()`, or a `Result<(), _>` whose error implements `Display`: an `Err` ends the call"
)]
pub trait HookOutcome {
    fn cause(self) -> Option<String>;
}

impl HookOutcome for () {
    fn cause(self) -> Option<String> {
        None
    }
}

impl<E: fmt::Display> HookOutcome for Result<(), E> {
    fn cause(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// Why a hook ends the call, if it does.
pub fn hook_cause(outcome: impl HookOutcome) -> Option<String> {
    outcome.cause()
}

/// An error, and what kept it from being retried.
#[derive(Debug)]
pub struct Caused<'a, T: ?Sized>(pub &'a T, pub &'a str);

impl<T: fmt::Display + ?Sized> fmt::Display for Caused<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.0, self.1)
    }
}
