use std::fmt;

use crate::plan::{Sendable, Subtask};

/// A validator's result for a plan's outputs: see [`Plan::run_until`](crate::Plan::run_until).
pub enum Validity<'a, T, E, F: ?Sized = Sendable<'a, T, E>> {
    /// The results are good, even if some subtasks failed: the plan ends.
    Valid,
    /// The results are incomplete, and these subtasks would provide the rest. They are added once no failed subtask is
    /// left to retry. A subtask with the name of a failed or blocked one was already tried, and is not added. If none
    /// of the others could run, nothing is added and the plan ends.
    Missing(Vec<Subtask<'a, T, E, F>>),
    /// The results are wrong, for this reason. Failed subtasks are retried; if there are none, the plan ends.
    Invalid(String),
}

impl<T, E, F: ?Sized> Validity<'_, T, E, F> {
    /// A description of the problem; empty if there is none.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Valid => String::new(),
            Self::Missing(subtasks) if subtasks.is_empty() => String::from("subtasks are missing"),
            Self::Missing(subtasks) => {
                let names: Vec<&str> = subtasks.iter().map(Subtask::name).collect();
                format!("missing: {}", names.join(", "))
            }
            Self::Invalid(message) => message.clone(),
        }
    }
}

impl<T, E, F: ?Sized> fmt::Debug for Validity<'_, T, E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("Valid"),
            Self::Missing(subtasks) => f.debug_tuple("Missing").field(subtasks).finish(),
            Self::Invalid(message) => f.debug_tuple("Invalid").field(message).finish(),
        }
    }
}
