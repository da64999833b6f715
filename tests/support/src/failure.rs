//! An error that carries its verdict.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use retry_runtime::{Cancelled, Classify, Rejected, TimedOut, Verdict};

/// Shows itself as the kind of its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub Verdict);

/// Fails in passing.
pub const TRANSIENT: Failure = Failure(Verdict::TRANSIENT);
/// Too many requests.
pub const THROTTLED: Failure = Failure(Verdict::THROTTLED);
/// There was no response in time.
pub const TIMEOUT: Failure = Failure(Verdict::TIMEOUT);
/// Not worth a retry.
pub const STOP: Failure = Failure(Verdict::STOP);

/// Too many requests, with a hint.
pub fn throttled_for(hint: Duration) -> Failure {
    Failure(Verdict::THROTTLED.after(hint))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            Some(kind) => kind.fmt(f),
            None => f.write_str("stop"),
        }
    }
}

impl Error for Failure {}

impl Classify for Failure {
    fn classify(&self) -> Verdict {
        self.0
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<TimedOut> for Failure {
    fn from(_: TimedOut) -> Self {
        TIMEOUT
    }
}

impl From<Rejected> for Failure {
    fn from(_: Rejected) -> Self {
        STOP
    }
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        STOP
    }
}
