use retry_classify::{Rejected, RejectedBy};

use crate::enum_with_names::enum_with_names;

enum_with_names! {
    /// The reason that a call gave up. Every call that ends with a failure has exactly one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    Reason:
    /// The failure was classified as not retryable.
    NotRetryable = "not retryable",
    /// No retries are left, or retries are turned off.
    Exhausted = "exhausted",
    /// The next attempt would have started after the call's `deadline`, the pauses would have exceeded `total_delay`,
    /// or `total_timeout` has passed.
    Deadline = "deadline",
    /// The server asked for a wait longer than `max_hint`.
    HintTooLong = "hint too long",
    /// The request may have taken effect, and the key `idempotent` is `false`.
    Ambiguous = "ambiguous",
    /// The request can't be sent again, because its body was consumed.
    Unrepeatable = "unrepeatable",
    /// The same error occurred `repeats` times in a row.
    Repeated = "repeated",
    /// The `budget` could not pay for a retry.
    Budget = "budget",
    /// The `breaker` or the `limiter` rejected the next attempt.
    Rejected = "rejected",
    /// The call was cancelled, by the key `cancel` or `abort`. Also reported for the items of a batch whose future was
    /// dropped; any other call whose future was dropped reports nothing.
    Cancelled = "cancelled",
    /// The key `correct` failed to repair a rejected value.
    CorrectionFailed = "correction failed",
    /// The key `before_pause` or `before_retry` returned an error.
    HookFailed = "hook failed",
    /// The `fallback` failed, too. A fallback that returns the call's own error, from `GaveUp::into_error`, doesn't
    /// change the reason.
    FallbackFailed = "fallback failed",
    /// The operation of a batch returned more or fewer results than it received items.
    Unanswered = "unanswered",
}

/// The reason that a call reports if it gives up because of this rejection.
impl From<RejectedBy> for Reason {
    fn from(by: RejectedBy) -> Self {
        match by {
            RejectedBy::Deadline => Self::Deadline,
            RejectedBy::Cancelled => Self::Cancelled,
            _ => Self::Rejected,
        }
    }
}

/// The reason that a call reports if it ends with this rejection.
impl From<Rejected> for Reason {
    fn from(rejected: Rejected) -> Self {
        rejected.by().into()
    }
}

enum_with_names! {
    /// The reason that a breaker opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    Cause:
    /// The failure rate was too high.
    Ratio = "failure ratio",
    /// Too many calls failed in a row.
    Consecutive = "consecutive failures",
    /// Too many calls were slow.
    Slow = "slow calls",
    /// A trial call failed.
    Trial = "trial call failed",
    /// An operator opened the breaker.
    Forced = "forced",
}
