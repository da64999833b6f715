use std::fmt;

use retry_runtime::Reason;
use retry_runtime::macro_support::shown;

/// The end of [`Plan::run_until`](crate::Plan::run_until). In both cases the plan keeps its outputs and can be run
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the results may not be valid"]
pub enum PlanEnd {
    /// The validator accepted the results.
    Valid,
    /// The validator never accepted them, and the rounds ran out, or another round could not have changed anything.
    GaveUp {
        /// The reason that no round followed. [`Reason::NotRetryable`] if no failed subtask was retryable and the
        /// validator requested no others. If subtasks were rejected, not paid for, or must not be repeated, it is that
        /// reason.
        reason: Reason,
        /// The validator's last result: its message, or the names of the subtasks that it requested.
        message: String,
    },
}

impl PlanEnd {
    /// Returns true if the validator accepted the results.
    pub fn is_valid(&self) -> bool {
        *self == Self::Valid
    }
}

impl fmt::Display for PlanEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("valid"),
            Self::GaveUp { reason, message } => write!(f, "gave up ({reason}): {}", shown(message)),
        }
    }
}
