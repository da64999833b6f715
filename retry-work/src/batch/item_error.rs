use std::error::Error;
use std::fmt;
use std::sync::Arc;

use retry_runtime::Reason;
use retry_runtime::macro_support::shown;

/// The reason that an item of [`retry_each`](crate::retry_each) has no value.
///
/// ```
/// use retry_runtime::{Policy, Reason};
/// use retry_work::retry_each_blocking;
///
/// let policy = Policy::none().max(2).on(|error: &String| error.starts_with("503"));
/// let results = retry_each_blocking(policy, ["a", "b"], |pending| {
///     Ok(pending.iter().map(|text| match *text {
///         "a" => Ok(text.len()),
///         _ => Err(String::from("503 overloaded")),
///     }).collect())
/// });
/// let error = results[1].as_ref().unwrap_err();
/// assert_eq!((error.attempts(), error.reason()), (3, Reason::Exhausted));
/// assert_eq!(
///     error.to_string(),
///     "gave up after 3 attempts (exhausted): 503 overloaded"
/// );
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct ItemError<E> {
    /// The last call's error or miscount. `None` if no call with the item has ended.
    cause: Option<Result<Arc<E>, Miscount>>,
    attempts: u32,
    pub(super) reason: Reason,
    /// True if the last call that sent the item has not ended.
    is_in_flight: bool,
}

impl<E> ItemError<E> {
    /// The result of an item, unless a later call replaces it.
    pub(super) const fn new(
        cause: Option<Result<Arc<E>, Miscount>>,
        attempts: u32,
        reason: Reason,
    ) -> Self {
        Self {
            cause,
            attempts,
            reason,
            is_in_flight: false,
        }
    }

    /// Records that a call sends the item. The last error is kept until the call ends.
    pub(super) fn mark_sent(&mut self, attempts: u32) {
        self.attempts = attempts;
        self.is_in_flight = true;
    }

    /// The error of the last attempt that returned an error. `None` if the item was never sent (0 attempts), if its
    /// only call was dropped, or if its call returned a wrong number of answers ([`Reason::Unanswered`]).
    pub fn error(&self) -> Option<&E> {
        self.cause.as_ref()?.as_deref().ok()
    }

    /// Returns the error of [`ItemError::error`] by value, shared with the other items of a call that failed as a
    /// whole.
    pub fn into_error(self) -> Option<Arc<E>> {
        self.cause?.ok()
    }

    /// Writes the cause. `describe` writes an error.
    pub(super) fn write_cause(
        &self,
        f: &mut fmt::Formatter<'_>,
        describe: impl FnOnce(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        match &self.cause {
            Some(Ok(error)) => describe(error, f),
            Some(Err(miscount)) => fmt::Display::fmt(miscount, f),
            None if self.is_in_flight => f.write_str("dropped before an answer"),
            None => f.write_str("not sent"),
        }
    }

    /// The number of calls that have sent the item.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns true if the last call with this item was dropped before it returned: by the deadline, by a panic, or
    /// with the whole batch. The request may have taken effect.
    pub fn is_dropped(&self) -> bool {
        self.is_in_flight
    }

    /// The reason that the item was not sent again.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl<E> Clone for ItemError<E> {
    fn clone(&self) -> Self {
        let cause = self.cause.clone();
        Self { cause, ..*self }
    }
}

impl<E: fmt::Display> fmt::Display for ItemError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (attempts, reason) = (self.attempts, self.reason);
        let plural = if attempts == 1 { "" } else { "s" };
        write!(f, "gave up after {attempts} attempt{plural} ({reason}): ")?;
        self.write_cause(f, |error, f| shown(error).fmt(f))?;
        if self.is_in_flight && self.cause.is_some() {
            f.write_str("; then dropped before an answer")?;
        }
        Ok(())
    }
}

impl<E: Error + 'static> Error for ItemError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // This error's text already includes the inner error's text.
        self.error()?.source()
    }
}

/// A call's numbers of answers and items, if they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Miscount {
    pub(super) answers: usize,
    pub(super) items: usize,
}

impl fmt::Display for Miscount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answers, items } = self;
        write!(f, "number of answers: expected {items}, got {answers}")
    }
}
