use core::fmt;

use crate::error_text::shown::shown;
use crate::observe::reason::Reason;

/// How [`Plan::run_until`](crate::Plan::run_until) ended. Either way the plan keeps its outputs and can be run
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the results may not be valid"]
pub enum PlanEnd {
    /// The validator accepted the results.
    Valid,
    /// The validator never accepted them, and the rounds ran out, or another round could have changed nothing.
    GaveUp {
        /// Why no round followed. [`Reason::NotRetryable`] if no failed subtask was worth a retry and the validator
        /// asked for no others. If subtasks were not let begin, not paid for, or must not be repeated, it is why.
        reason: Reason,
        /// What the validator said last: its message, or the names of the subtasks that it asked for.
        message: String,
    },
}

impl PlanEnd {
    /// Whether the validator accepted the results.
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
