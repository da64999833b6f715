use core::time::Duration;

use crate::observe::Cause;

/// A change for all calls, caused by one attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A breaker changed its state.
    Breaker(Transition),
    /// The server refused and asked for a wait: no attempt begins for that long. Reported again if a later hint makes
    /// the rest of the wait more than twice as long.
    Paused {
        /// The length of the wait.
        pause: Duration,
    },
    /// The server answers again after a wait.
    Resumed,
    /// The number of attempts that may now run at a time.
    Limit(u32),
    /// The cost that may now begin per second.
    Rate(f64),
}

/// The changes caused by the end of one attempt: at most two, such as a wait and a limit.
pub type Changes = [Option<Change>; 2];

/// No change.
pub(crate) const UNCHANGED: Changes = [None; 2];

/// The first trial call of a breaker begins.
pub(crate) const HALF_OPENED: Changes = [Some(Change::Breaker(Transition::HalfOpened)), None];

/// A change of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transition {
    /// The breaker rejects every attempt from now on.
    Opened {
        /// The reason.
        cause: Cause,
        /// The time after which it admits trial calls.
        open_for: Duration,
    },
    /// The breaker admits trial calls, because it was open for long enough.
    HalfOpened,
    /// The breaker admits every attempt again, because the trial calls succeeded.
    Closed,
}
