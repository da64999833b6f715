use alloc::string::String;

use retry_classify::{Rejected, RejectedBy};

use crate::observe::Reason;

/// The reason that a call ends before an attempt.
#[derive(Debug)]
pub struct Stop {
    reason: Reason,
    by: RejectedBy,
    /// The error of a hook.
    pub(super) cause: Option<String>,
}

impl Stop {
    #[cold]
    pub(super) fn by(by: RejectedBy) -> Self {
        Self {
            reason: by.into(),
            by,
            cause: None,
        }
    }

    /// Ends the call for this reason, set by the loop.
    #[cold]
    pub fn because(reason: Reason) -> Self {
        Self {
            reason,
            ..Self::by(RejectedBy::Cancelled)
        }
    }

    #[cold]
    pub(super) fn hook(cause: String) -> Self {
        Self {
            cause: Some(cause),
            ..Self::because(Reason::HookFailed)
        }
    }

    /// The reason to report.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The rejection that a call ends with if no attempt left an error.
    pub const fn rejected(&self) -> Rejected {
        Rejected::new(self.by)
    }
}
