//! The keys `before_pause` and `before_retry`.

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
