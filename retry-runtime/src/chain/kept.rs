//! The outcomes of earlier attempts that a call keeps.

use alloc::sync::Arc;
use core::time::Duration;

use crate::call::attempt::Attempt;

/// The outcomes of earlier attempts.
pub(super) struct Kept<T, E> {
    /// The outcome of the call if no attempt follows. If there is a history, the error is there instead.
    last: Option<Result<T, Option<E>>>,
    /// All errors, for a fallback or for the attempts to see.
    pub(super) history: Option<Arc<Attempt<E>>>,
}

impl<T, E> Default for Kept<T, E> {
    fn default() -> Self {
        Self {
            last: None,
            history: None,
        }
    }
}

impl<T, E> Kept<T, E> {
    /// The history. If an attempt still holds a reference to it, that attempt keeps the errors so far, and the call
    /// goes on without them.
    pub(super) fn history(&mut self) -> Option<&mut Attempt<E>> {
        let attempt = self.history.as_mut()?;
        if Arc::get_mut(attempt).is_none() {
            *attempt = Arc::new(attempt.without_errors());
        }
        Arc::get_mut(attempt)
    }

    /// Keeps a value that was not accepted.
    pub(super) fn keep_value(&mut self, value: T) {
        if let Some(history) = self.history() {
            history.interrupted();
        }
        self.last = Some(Ok(value));
    }

    /// Keeps the error of an attempt that is followed by another after that pause.
    pub(super) fn keep_error(&mut self, error: E, pause: Duration) {
        self.last = Some(Err(match self.history() {
            Some(history) => {
                history.failed(error);
                history.paused(pause);
                None
            }
            None => Some(error),
        }));
    }

    /// The error of the last attempt, if it failed.
    pub(super) fn error(&mut self) -> Option<&E> {
        match &self.last {
            Some(Err(Some(error))) => Some(error),
            Some(Err(None)) => self.history.as_ref()?.last_error(),
            Some(Ok(_)) | None => None,
        }
    }

    /// The outcome of the last attempt.
    pub(super) fn take(&mut self) -> Option<Result<T, E>> {
        match self.last.take()? {
            Ok(value) => Some(Ok(value)),
            Err(Some(error)) => Some(Err(error)),
            Err(None) => self.history()?.take_last_failure().map(Err),
        }
    }
}
