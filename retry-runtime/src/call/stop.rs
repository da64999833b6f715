use alloc::string::{String, ToString};
use core::fmt;

use retry_classify::{Rejected, RejectedBy};

use crate::observe::Reason;
use crate::policy::Values;

/// The reason that a call ends before an attempt or a correction.
#[derive(Debug)]
pub struct Stop {
    reason: Reason,
    by: RejectedBy,
    /// The error of a hook.
    pub(super) cause: Option<String>,
    /// `Corrected` if a correction would have followed, or failed.
    pub(super) values: Values,
}

impl Stop {
    /// Ends the call for this reason.
    #[cold]
    pub fn new(reason: Reason) -> Self {
        Self {
            reason,
            by: RejectedBy::Cancelled,
            cause: None,
            values: Values::Taken,
        }
    }

    /// Ends the call for this reason before a correction, or because the correction failed.
    #[cold]
    pub fn of_correction(reason: Reason) -> Self {
        Self {
            values: Values::Corrected,
            ..Self::new(reason)
        }
    }

    #[cold]
    pub(super) fn from_rejection(by: RejectedBy) -> Self {
        Self {
            by,
            ..Self::new(by.into())
        }
    }

    #[cold]
    pub(super) fn from_hook(cause: String) -> Self {
        Self {
            cause: Some(cause),
            ..Self::new(Reason::HookFailed)
        }
    }

    /// The reason to report.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The rejection that the call ends with if it has no earlier error or value.
    pub const fn rejected(&self) -> Rejected {
        Rejected::new(self.by)
    }
}

/// The return type of a hook.
#[diagnostic::on_unimplemented(
    message = "`before_pause` and `before_retry` can't return `{Self}`",
    label = "neither `()` nor a `Result<(), _>`",
    note = "return `()`, or a `Result<(), _>` whose error implements `Display`: an `Err` ends the call"
)]
pub trait HookOutcome {
    /// The text of the error with which the hook ends the call, if it does.
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

/// An error, and the reason that it was not retried.
#[derive(Debug)]
pub(crate) struct WithCause<'a, T: ?Sized>(pub &'a T, pub &'a str);

impl<T: fmt::Display + ?Sized> fmt::Display for WithCause<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.0, self.1)
    }
}
