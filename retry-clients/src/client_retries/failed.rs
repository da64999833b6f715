use std::error::Error;
use std::fmt;

use retry_runtime::{Verdict, show};

/// A failed attempt.
pub(crate) struct Failed<A, E> {
    pub(crate) outcome: Result<A, E>,
    pub(crate) shown: String,
    pub(crate) verdict: Verdict,
}

impl<A, E> Failed<A, E> {
    /// Creates the failure of an attempt without a response.
    pub(crate) fn new(error: E, shown: fn(&E) -> String, verdict: Verdict) -> Self {
        Self {
            shown: shown(&error),
            outcome: Err(error),
            verdict,
        }
    }

    /// Appends the reason why the request can't be sent again.
    pub(crate) fn append_reason(&mut self, why: impl fmt::Display) {
        self.shown = format!("{}; {why}", self.shown);
    }
}

/// Displays an error with its causes.
pub(crate) struct WithCauses<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::with_causes(&self.0, f)
    }
}
