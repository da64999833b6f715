//! A subtask and its status.

use std::fmt;
use std::sync::Arc;

use retry_runtime::macro_support::shown;

use crate::plan::Subtask;

pub(crate) struct Node<'a, T, E, F: ?Sized> {
    pub(crate) subtask: Subtask<'a, T, E, F>,
    pub(crate) state: State<T, E>,
    pub(crate) executions: u32,
    /// True if the last execution followed a failure.
    pub(crate) retried: bool,
    /// The position, in the list of dependencies, of the one that the subtask last waited for. All earlier ones have
    /// completed.
    pub(crate) waits_for: usize,
}

pub(crate) enum State<T, E> {
    /// The subtask has not run yet, or its run did not end.
    Pending,
    Completed(Arc<T>),
    Failed {
        failure: SubtaskFailure<E>,
        dead_end: bool,
    },
}

/// The failure of a subtask.
pub(crate) struct SubtaskFailure<E> {
    /// `None` if the failure was loaded.
    pub(crate) error: Option<E>,
    /// The text of the error, if it was loaded or written by the key `show`.
    pub(crate) text: Option<String>,
}

impl<'a, T, E, F: ?Sized> Node<'a, T, E, F> {
    pub(crate) fn new(subtask: Subtask<'a, T, E, F>) -> Self {
        Self {
            subtask,
            state: State::Pending,
            executions: 0,
            retried: false,
            waits_for: 0,
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.subtask.name
    }

    pub(crate) fn output(&self) -> Option<&Arc<T>> {
        match &self.state {
            State::Completed(output) => Some(output),
            _ => None,
        }
    }

    pub(crate) fn failure(&self) -> Option<&SubtaskFailure<E>> {
        match &self.state {
            State::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    pub(crate) fn error(&self) -> Option<&E> {
        self.failure()?.error.as_ref()
    }

    /// Stores the error's text from `show`.
    pub(crate) fn show(&mut self, show: impl FnOnce(&E) -> Option<String>) {
        if let State::Failed { failure, .. } = &mut self.state {
            if let Some(error) = &failure.error {
                failure.text = show(error);
            }
        }
    }

    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending)
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.output().is_some()
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.failure().is_some()
    }

    pub(crate) fn is_dead_end(&self) -> bool {
        matches!(self.state, State::Failed { dead_end: true, .. })
    }

    /// Returns true if the subtask failed and is not a dead end.
    pub(crate) fn is_open(&self) -> bool {
        self.is_failed() && !self.is_dead_end()
    }
}

impl<E: fmt::Display> fmt::Display for SubtaskFailure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.text, &self.error) {
            (Some(text), _) => shown(text).fmt(f),
            (None, Some(error)) => shown(error).fmt(f),
            (None, None) => Ok(()),
        }
    }
}
