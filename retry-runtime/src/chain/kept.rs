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

/// Decides whether a call keeps its attempts' outcomes during pauses. If it doesn't, its future is `Send` even if the
/// error is not.
pub trait Keep {
    /// The marker after a key was set that needs the outcomes.
    type Keeping: Keep;
    /// Storage for the outcomes.
    type Room<V: Default>: Default;

    /// Returns the storage for the outcomes, if there is any.
    fn kept<V: Default>(room: &mut Self::Room<V>) -> Option<&mut V>;
}

/// Keeps nothing during a pause, because the call can't end then.
#[derive(Clone, Copy, Debug)]
pub enum Forgets {}

/// Keeps outcomes: the call may end after its pause, or a hook or a fallback needs the error.
#[derive(Clone, Copy, Debug)]
pub enum Keeps {}

/// Keeps outcomes, and may end with a [`Rejected`](crate::Rejected) before the first: the keys `breaker` and `limiter`.
#[derive(Clone, Copy, Debug)]
pub enum Rejects {}

impl Keep for Forgets {
    type Keeping = Keeps;
    type Room<V: Default> = ();

    fn kept<V: Default>((): &mut ()) -> Option<&mut V> {
        None
    }
}

impl Keep for Keeps {
    type Keeping = Self;
    type Room<V: Default> = V;

    fn kept<V: Default>(room: &mut V) -> Option<&mut V> {
        Some(room)
    }
}

impl Keep for Rejects {
    type Keeping = Self;
    type Room<V: Default> = V;

    fn kept<V: Default>(room: &mut V) -> Option<&mut V> {
        Some(room)
    }
}
