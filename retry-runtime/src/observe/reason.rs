use crate::classify::rejected::{Rejected, RejectedBy};
use crate::listed::listed;

/// Why a call gave up. Every call that ends with a failure has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Classification said that the failure is not worth a retry.
    NotRetryable,
    /// No retry is left, or retries are off.
    Exhausted,
    /// The next attempt would have begun after the call's `deadline`, or its pauses would have taken longer than
    /// `total_delay`.
    Deadline,
    /// The server asked for a wait longer than `max_hint`.
    HintTooLong,
    /// The request may have taken effect, and the function is not idempotent.
    Ambiguous,
    /// The request can't be sent again: its body is gone.
    Unrepeatable,
    /// The same error came `repeats` times in a row.
    Repeated,
    /// The `budget` had nothing left to pay for a retry with.
    Budget,
    /// The `breaker` or the `limiter` did not let the next attempt begin.
    Rejected,
    /// The call was cancelled, by the key `cancel` or `abort`. An item of a batch whose future was dropped has this, too; of a call
    /// whose future was dropped nothing more is told.
    Cancelled,
    /// The key `correct` failed to repair a rejected value.
    CorrectionFailed,
    /// The key `before_pause` or `before_retry` returned an error.
    HookFailed,
    /// The key `fallback` was the last resort, and failed too.
    FallbackFailed,
    /// A call for a batch of items returned more or fewer answers than it got items.
    Unanswered,
}

listed!(Reason:
    NotRetryable = "not retryable", Exhausted = "exhausted", Deadline = "deadline",
    HintTooLong = "hint too long", Ambiguous = "ambiguous", Unrepeatable = "unrepeatable",
    Repeated = "repeated", Budget = "budget", Rejected = "rejected", Cancelled = "cancelled",
    CorrectionFailed = "correction failed", HookFailed = "hook failed",
    FallbackFailed = "fallback failed", Unanswered = "unanswered"
);

/// Why a call with this rejection gave up.
impl From<RejectedBy> for Reason {
    fn from(by: RejectedBy) -> Self {
        match by {
            RejectedBy::Deadline => Self::Deadline,
            RejectedBy::Cancelled => Self::Cancelled,
            _ => Self::Rejected,
        }
    }
}

/// Why a call that ends with it gave up.
impl From<Rejected> for Reason {
    fn from(rejected: Rejected) -> Self {
        rejected.by().into()
    }
}
