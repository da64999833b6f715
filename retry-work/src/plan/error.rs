use std::error::Error;
use std::fmt;

use retry_runtime::macro_support::escaped;

/// The reason that a plan or a subtask can't run, or a state can't be loaded: a repeated name, an unknown dependency, a
/// cycle, a subtask that has completed or still waits for another, a plan that another executor drives, or a state with
/// subtasks that the plan doesn't have.
///
/// The message names the affected subtasks; show it to the user unchanged. The plan is unchanged: nothing was executed,
/// added or loaded, and its outputs are kept.
///
/// ```
/// use retry_work::Plan;
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
pub struct PlanError(pub(super) String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(&self.0, f)
    }
}

impl Error for PlanError {}
