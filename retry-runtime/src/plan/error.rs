use alloc::sync::Arc;
use core::error::Error;
use core::fmt;

use retry_vocabulary::nearest;

use crate::error_text::shown::escaped;

/// Why a plan or a subtask can't run, or a state can't be loaded: a name given twice, an unknown dependency, a cycle, a
/// subtask that has completed or still waits for another, a plan that another executor drives, or a state with subtasks that the plan doesn't have.
///
/// The message names the subtasks concerned; show it to the user as it is. The plan is unchanged: nothing was executed,
/// added or loaded, and its outputs are still there.
///
/// ```
/// use retry_runtime::Plan;
///
/// let mut plan = Plan::<(), String>::new();
/// plan.add("search", [], async |[]| Ok(()));
/// plan.add("extract", ["serach"], async |[_]| Ok(()));
/// assert_eq!(
///     plan.check().unwrap_err().to_string(),
///     "extract → serach: there is no subtask `serach`; did you mean `search`?",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(String);

impl PlanError {
    /// Names the subtasks by their number; the indices are counted from 0.
    pub(crate) fn duplicate(name: &str, first: usize, second: usize) -> Self {
        let (first, second) = (first + 1, second + 1);
        Self(format!(
            "the subtasks added as number {first} and number {second} are both named `{name}`: \
             give each a name of its own"
        ))
    }

    pub(crate) fn unknown<'a>(
        subtask: &str,
        dependency: &str,
        known: impl Iterator<Item = &'a Arc<str>>,
    ) -> Self {
        let remedy = did_you_mean(dependency, known)
            .unwrap_or_else(|| String::from("add it, or remove the dependency"));
        Self(format!(
            "{subtask} → {dependency}: there is no subtask `{dependency}`; {remedy}"
        ))
    }

    pub(crate) fn no_subtask<'a>(name: &str, known: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let guess = did_you_mean(name, known).map(|guess| format!("; {guess}"));
        Self(format!(
            "there is no subtask `{name}`{}",
            guess.unwrap_or_default()
        ))
    }

    pub(crate) fn driven() -> Self {
        Self(String::from(
            "another executor drives the plan: use `ready`, `start` and `complete`",
        ))
    }

    pub(crate) fn has_completed(name: &str) -> Self {
        Self(format!("`{name}` has completed, and runs no more"))
    }

    pub(crate) fn waits(name: &str, dependency: &str) -> Self {
        Self(format!(
            "`{name}` can't run before `{dependency}`, which has not completed"
        ))
    }

    pub(crate) fn cycle<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let mut names: Vec<&str> = names.map(|name| &**name).collect();
        names.extend(names.first().copied());
        Self(format!(
            "each subtask waits for the next and none can begin: {}",
            names.join(" → ")
        ))
    }

    #[cfg(feature = "serde")]
    pub(crate) fn not_in_plan(names: &[&str]) -> Self {
        Self(format!(
            "the state has subtasks that the plan doesn't have: {}; add them before it is loaded",
            names.join(", ")
        ))
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(&self.0, f)
    }
}

impl Error for PlanError {}

/// The nearest known name, as a question.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a Arc<str>>) -> Option<String> {
    // In order, so that of two names as near the message has always the same.
    let mut known: Vec<&str> = known.map(|name| &**name).collect();
    known.sort_unstable();
    nearest(name, &known).map(|name| format!("did you mean `{name}`?"))
}
