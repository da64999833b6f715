//! The keys `before_pause` and `before_retry`.

use crate::call::next_attempt::NextAttempt;

// `F` has no bound: the error about a wrong future or outcome appears once, at `.await`.
pub fn hook<'a, E, F>(
    error: &'a E,
    next: NextAttempt,
    hook: impl FnOnce(&'a E, NextAttempt) -> F,
) -> F {
    hook(error, next)
}
