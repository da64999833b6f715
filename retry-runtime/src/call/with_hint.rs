use core::fmt;
use core::time::Duration;

use retry_vocabulary::duration::Written;

use crate::call::decide::Decision;
use crate::observe::Reason;

/// An error, and the server's wait if that ends the call.
pub(crate) struct WithHint<E> {
    error: E,
    hint: Option<Duration>,
}

impl<E> WithHint<E> {
    pub(crate) fn new(error: E, decision: Decision, hint: Option<Duration>) -> Self {
        let hint = hint.filter(|_| decision == Err(Reason::HintTooLong));
        Self { error, hint }
    }
}

impl<E: fmt::Display> fmt::Display for WithHint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        match self.hint {
            Some(hint) => write!(f, "; the server asks to wait {}", Written(hint)),
            None => Ok(()),
        }
    }
}
