use retry_classify::{Rejected, RejectedBy};

use crate::listed::listed;

/// The reason that a call gave up. Every call that ends with a failure has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The failure was classified as not retryable.
    NotRetryable,
    /// No retries are left, or retries are turned off.
    Exhausted,
    /// The next attempt would have started after the call's `deadline`, or its pauses would have exceeded
    /// `total_delay`.
    Deadline,
    /// The server asked for a wait longer than `max_hint`.
    HintTooLong,
    /// The request may have taken effect, and the key `idempotent` is `false`.
    Ambiguous,
    /// The request can't be sent again, because its body was consumed.
    Unrepeatable,
    /// The same error occurred `repeats` times in a row.
    Repeated,
    /// The `budget` could not pay for a retry.
    Budget,
    /// The `breaker` or the `limiter` rejected the next attempt.
    Rejected,
    /// The call was cancelled, by the key `cancel` or `abort`. Also reported for the items of a batch whose future was
    /// dropped; any other call whose future was dropped reports nothing.
    Cancelled,
    /// The key `correct` failed to repair a rejected value.
    CorrectionFailed,
    /// The key `before_pause` or `before_retry` returned an error.
    HookFailed,
    /// The key `fallback` was called, and failed too.
    FallbackFailed,
    /// The operation of a batch returned more or fewer results than it received items.
    Unanswered,
}

listed!(Reason:
    NotRetryable = "not retryable", Exhausted = "exhausted", Deadline = "deadline",
    HintTooLong = "hint too long", Ambiguous = "ambiguous", Unrepeatable = "unrepeatable",
    Repeated = "repeated", Budget = "budget", Rejected = "rejected", Cancelled = "cancelled",
    CorrectionFailed = "correction failed", HookFailed = "hook failed",
    FallbackFailed = "fallback failed", Unanswered = "unanswered"
);

/// The reason of a call that gave up because of this rejection.
impl From<RejectedBy> for Reason {
    fn from(by: RejectedBy) -> Self {
        match by {
            RejectedBy::Deadline => Self::Deadline,
            RejectedBy::Cancelled => Self::Cancelled,
            _ => Self::Rejected,
        }
    }
}

/// The reason of a call that ends with this rejection.
impl From<Rejected> for Reason {
    fn from(rejected: Rejected) -> Self {
        rejected.by().into()
    }
}

/// The reason that a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The failure rate was too high.
    Ratio,
    /// Too many calls failed in a row.
    Consecutive,
    /// Too many calls were slow.
    Slow,
    /// A trial call failed.
    Trial,
    /// An operator opened it.
    Forced,
}

listed!(Cause:
    Ratio = "failure ratio", Consecutive = "consecutive failures", Slow = "slow calls",
    Trial = "trial call failed", Forced = "forced"
);
