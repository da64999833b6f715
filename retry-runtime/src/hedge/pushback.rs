use core::time::Duration;

use retry_classify::{Kind, Verdict};

/// Records that a server asked for fewer requests or for a wait. The call then starts no more hedged attempts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pushback {
    is_requested: bool,
    /// The longest wait that the server asked for in concurrent attempts.
    hint: Option<Duration>,
}

impl Pushback {
    /// The state before the first failure.
    pub const fn new() -> Self {
        Self {
            is_requested: false,
            hint: None,
        }
    }

    pub(crate) fn is_requested(self) -> bool {
        self.is_requested
    }

    /// Adds the verdict on a failure.
    pub(crate) fn note(&mut self, verdict: Verdict) {
        self.is_requested |= verdict.kind() == Some(Kind::Throttled) || verdict.hint().is_some();
        self.hint = self.hint.max(verdict.hint());
    }

    /// Takes the longest wait that the server asked for in concurrent attempts that have ended.
    pub(crate) fn take_hint(&mut self) -> Option<Duration> {
        self.hint.take()
    }
}
