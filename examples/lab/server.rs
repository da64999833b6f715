//! Types that simulated servers and their clients share.

use std::time::Duration;

use retry_runtime::{Classify, Rejected, TimedOut, Verdict};

pub(crate) trait Server {
    async fn answer(&self) -> Result<(), Failure>;
}

/// The reason why an attempt or a call failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    Unavailable,
    /// Too many requests, with the wait that the server asks for, if any.
    Throttled(Option<Duration>),
    TimedOut,
    Rejected,
}

impl Classify for Failure {
    fn classify(&self) -> Verdict {
        match self {
            Self::Unavailable => Verdict::TRANSIENT,
            Self::Throttled(Some(hint)) => Verdict::THROTTLED.after(*hint),
            Self::Throttled(None) => Verdict::THROTTLED,
            Self::TimedOut => Verdict::TIMEOUT,
            Self::Rejected => Verdict::STOP,
        }
    }
}

impl From<TimedOut> for Failure {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl From<Rejected> for Failure {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}
