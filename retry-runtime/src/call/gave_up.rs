use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::call::errors::Errors;
use crate::observe::reason::Reason;
use crate::observe::shown::shown;

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
///
/// `Display` prints one line: `gave up after 3 attempts in 2s (exhausted): 503 overloaded`. The error in it is as in the
/// log: at most 1 KiB, control characters escaped, URLs without user info, query and fragment.
///
/// In a function with the key `validate` it is a `GaveUp<E, T>`, which also has the last rejected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaveUp<E, T = ()> {
    pub(crate) earlier: Errors<E>,
    pub(crate) error: E,
    pub(crate) attempts: u32,
    pub(crate) corrections: u32,
    pub(crate) last_value: Option<T>,
    pub(crate) elapsed: Duration,
    pub(crate) reason: Reason,
}

impl<E, T> GaveUp<E, T> {
    /// The error of the last attempt.
    pub fn error(&self) -> &E {
        &self.error
    }

    /// The errors in order, including the last attempt's: if there are more than 111, the first 10 and the last 101.
    /// Attempts with a value that `until` rejected have none.
    pub fn errors(&self) -> impl DoubleEndedIterator<Item = &E> {
        let earlier = self.earlier.kept().iter();
        earlier.chain(std::iter::once(&self.error))
    }

    /// How many errors are missing between the first 10 of [`errors`](Self::errors) and the others: 0 unless there were
    /// more than 111.
    pub fn errors_left_out(&self) -> u64 {
        self.earlier.left_out()
    }

    /// The error of the last attempt, by value.
    pub fn into_error(self) -> E {
        self.error
    }

    /// The same as [`errors`](Self::errors), by value.
    pub fn into_errors(self) -> Vec<E> {
        let mut errors = self.earlier.into_kept();
        errors.push(self.error);
        errors
    }

    /// How many attempts were made.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How many times the key `correct` was called, including one that failed.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    /// The last value that the key `validate` rejected. `None` without that key, if no value was rejected, and if
    /// `correct` took the value and failed.
    pub fn last_value(&self) -> Option<&T> {
        self.last_value.as_ref()
    }

    /// The same, by value.
    pub fn into_last_value(self) -> Option<T> {
        self.last_value
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

impl<E: fmt::Display, T> fmt::Display for GaveUp<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            error,
            attempts,
            elapsed,
            reason,
            ..
        } = self;
        let plural = if *attempts == 1 { "" } else { "s" };
        write!(
            f,
            "gave up after {attempts} attempt{plural} in {elapsed:?} ({reason}): {}",
            shown(error)
        )
    }
}

impl<E: Error + 'static, T: fmt::Debug> Error for GaveUp<E, T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
