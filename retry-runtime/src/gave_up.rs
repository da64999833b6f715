use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::Reason;

/// A call that gave up: the argument of the keys `give_up` and `fallback`.
///
/// ```
/// use retry_runtime::{GaveUp, Reason, retry};
///
/// fn explain(gave_up: GaveUp<String>) -> String {
///     format!("{} after {} attempts", gave_up.error(), gave_up.attempts())
/// }
///
/// #[retry(max = 2, backoff = "none", give_up = explain, on = |_| true)]
/// fn complete() -> Result<(), String> {
///     Err(String::from("503 overloaded"))
/// }
/// assert_eq!(complete(), Err(String::from("503 overloaded after 3 attempts")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaveUp<E> {
    earlier: Vec<E>,
    error: E,
    attempts: u32,
    elapsed: Duration,
    reason: Reason,
}

impl<E> GaveUp<E> {
    pub(crate) fn new(
        earlier: Vec<E>,
        error: E,
        attempts: u32,
        elapsed: Duration,
        reason: Reason,
    ) -> Self {
        Self {
            earlier,
            error,
            attempts,
            elapsed,
            reason,
        }
    }

    /// The error of the last attempt.
    pub fn error(&self) -> &E {
        &self.error
    }

    /// Every error in order, that of the last attempt included. Attempts whose value `until` rejected have none.
    pub fn errors(&self) -> impl DoubleEndedIterator<Item = &E> {
        self.earlier.iter().chain(std::iter::once(&self.error))
    }

    /// The error of the last attempt, by value.
    pub fn into_error(self) -> E {
        self.error
    }

    /// Every error in order, by value.
    pub fn into_errors(self) -> Vec<E> {
        let mut errors = self.earlier;
        errors.push(self.error);
        errors
    }

    /// How many attempts were made.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The time from the start of the call to its end.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Why no attempt follows.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl<E: fmt::Display> fmt::Display for GaveUp<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            error,
            attempts,
            elapsed,
            reason,
            ..
        } = self;
        write!(
            f,
            "gave up after {attempts} attempts in {elapsed:?} ({reason}): {error}"
        )
    }
}

impl<E: Error + 'static> Error for GaveUp<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
