use core::time::Duration;

use retry_classify::{Kind, Verdict};

/// True if the server asked a call for fewer requests, or to wait. Then the call starts no hedged attempt any more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pushback {
    came: bool,
    /// The longest wait it asked for, of attempts that ran at once.
    hint: Option<Duration>,
}

impl Pushback {
    /// Before the first failure.
    pub const fn new() -> Self {
        Self {
            came: false,
            hint: None,
        }
    }

    pub(crate) fn came(self) -> bool {
        self.came
    }

    /// Takes note of the verdict on a failure.
    pub(crate) fn note(&mut self, verdict: Verdict) {
        self.came |= verdict.kind() == Some(Kind::Throttled) || verdict.hint().is_some();
        self.hint = self.hint.max(verdict.hint());
    }

    /// The longest wait asked for in any of the attempts that ran at once and are over.
    pub(crate) fn take_hint(&mut self) -> Option<Duration> {
        self.hint.take()
    }
}
