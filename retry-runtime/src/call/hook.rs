//! The results of the keys `before_pause` and `before_retry`, in every form of a call.

use alloc::string::{String, ToString};
use core::fmt;

/// The return type of a hook.
#[diagnostic::on_unimplemented(
    message = "`before_pause` and `before_retry` can't return `{Self}`",
    label = "neither `()` nor a `Result<(), _>`",
    note = "return `()`, or a `Result<(), _>` whose error implements `Display`: an `Err` ends the call"
)]
pub trait HookOutcome {
    /// The reason that the hook ends the call, if it does.
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
pub(crate) struct Caused<'a, T: ?Sized>(pub &'a T, pub &'a str);

impl<T: fmt::Display + ?Sized> fmt::Display for Caused<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.0, self.1)
    }
}
