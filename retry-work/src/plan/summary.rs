use std::fmt;

use retry_runtime::macro_support::shown_within;

/// The status of a plan's subtasks so far: each one is in `completed`, `failed`, `blocked` or `pending`. Names are in
/// the order in which the subtasks were added.
///
/// `Display` prints the same text as the log:
///
/// ```
/// use retry_work::plan::Summary;
///
/// let mut summary = Summary::default();
/// summary.completed = vec!["search".into(), "navigate".into()];
/// summary.failed = vec!["extract".into()];
/// summary.dead_ends = vec!["extract".into()];
/// summary.blocked = vec!["label".into()];
/// summary.executions = 5;
/// assert_eq!(
///     summary.to_string(),
///     "2 completed; 1 failed: extract; 1 dead end: extract; 1 blocked: label; \
///      5 executions",
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The subtasks that have an output.
    pub completed: Vec<String>,
    /// The subtasks that failed, including dead ends.
    pub failed: Vec<String>,
    /// The subtasks in `failed` that failed again when retried, or that `run_until` gave up on.
    pub dead_ends: Vec<String>,
    /// The subtasks that did not run because one of their dependencies, direct or not, failed.
    pub blocked: Vec<String>,
    /// The subtasks that have not finished for another reason: the plan was not run, its run was dropped, the breaker
    /// or the limiter rejected them, or they were dropped at the deadline.
    pub pending: Vec<String>,
    /// The number of executions of subtasks, in all runs so far.
    pub executions: u64,
}

impl Summary {
    /// Returns true if every subtask completed.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.blocked.is_empty() && self.pending.is_empty()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} completed", self.completed.len())?;
        let dead_ends = if self.dead_ends.len() == 1 {
            "dead end"
        } else {
            "dead ends"
        };
        for (what, names) in [
            ("failed", &self.failed),
            (dead_ends, &self.dead_ends),
            ("blocked", &self.blocked),
            ("pending", &self.pending),
        ] {
            if !names.is_empty() {
                let list = Names(names.iter().map(String::as_str));
                write!(f, "; {} {what}: {list}", names.len())?;
            }
        }
        let s = if self.executions == 1 { "" } else { "s" };
        write!(f, "; {} execution{s}", self.executions)
    }
}

/// The maximum number of names in a log line.
const MAX_NAMES: usize = 8;

/// A name in a list, shortened for display.
pub(crate) fn shown_name(name: impl fmt::Display) -> impl fmt::Display {
    shown_within(name, 96)
}

/// Names on one line, and the number of further names.
pub(crate) struct Names<I>(pub(crate) I);

impl<'a, I: Iterator<Item = &'a str> + Clone> fmt::Display for Names<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.clone().take(MAX_NAMES).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}", shown_name(name))?;
        }
        match self.0.clone().skip(MAX_NAMES).count() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
