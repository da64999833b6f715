use std::fmt;

use retry_runtime::Reason;
use retry_runtime::macro_support::shown;

/// The result of [`Plan::run_until`](crate::Plan::run_until). In both cases, the plan keeps its outputs and can be run
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the results may not be valid"]
pub enum PlanEnd {
    /// The validator accepted the results.
    Valid,
    /// The validator never accepted the results, and no round was left or could have changed anything.
    GaveUp {
        /// The reason that no round followed. [`Reason::NotRetryable`] if no failed subtask was retryable and the
        /// validator requested no new ones. If subtasks were rejected, not paid for or must not be repeated, the first
        /// such subtask's reason.
        reason: Reason,
        /// The validator's message, or the subtasks that it requested. At the deadline, the work in flight.
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
