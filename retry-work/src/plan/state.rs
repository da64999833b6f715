use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::{Plan, PlanError};

/// The status of a plan's subtasks, by name. With the feature `serde`, it can be saved and loaded.
///
/// A saved state is a table of `version` (1), `completed` (name to output), `failed` (name to the text of the error),
/// `dead_ends` (names) and `executions` (a number). Blocked and pending subtasks follow from the plan. When a state is
/// read, unknown fields are ignored; a repeated name or field is an error, and so is a higher `version` than this crate
/// supports. Later versions of this crate can read the states that this version wrote.
///
/// ```
/// use retry_work::Plan;
/// use retry_work::plan::PlanState;
///
/// fn plan() -> Plan<'static, u32, String> {
///     let mut plan = Plan::new();
///     plan.add("search", [], async |[]| Ok(7));
///     plan.add("extract", ["search"], async |[_]| Err(String::from("503 overloaded")));
///     plan
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut first = plan();
/// first.run().await?;
/// let saved = serde_json::to_string(&first.state())?;
/// assert_eq!(
///     saved,
///     concat!(
///         r#"{"version":1,"completed":{"search":7},"#,
///         r#""failed":{"extract":"503 overloaded"},"dead_ends":[],"executions":2}"#,
///     )
/// );
///
/// let mut second = plan();
/// second.load(serde_json::from_str(&saved)?)?;
/// assert_eq!(second.summary(), first.summary());
/// let summary = second.retry_failed().await?;
/// assert_eq!(summary.executions, 3); // `search` did not run again.
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PlanState<T> {
    pub(crate) completed: BTreeMap<String, Arc<T>>,
    pub(crate) failed: BTreeMap<String, String>,
    pub(crate) dead_ends: Vec<String>,
    pub(crate) executions: u64,
}

impl<T> PlanState<T> {
    pub(crate) fn new(executions: u64) -> Self {
        Self {
            completed: BTreeMap::new(),
            failed: BTreeMap::new(),
            dead_ends: Vec::new(),
            executions,
        }
    }

    pub(crate) fn add<E: fmt::Display, F: ?Sized>(&mut self, node: &Node<'_, T, E, F>) {
        let name = node.name().to_string();
        match &node.state {
            State::Pending => {}
            State::Completed(output) => {
                self.completed.insert(name, Arc::clone(output));
            }
            State::Failed { failure, dead_end } => {
                if *dead_end {
                    self.dead_ends.push(name.clone());
                }
                self.failed.insert(name, failure.to_string());
            }
        }
    }

    /// The names of all subtasks in the state. The plan must contain all of them before it loads the state, including
    /// those that a validator added in the earlier run.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.completed.keys().chain(self.failed.keys());
        let dead_ends = self.dead_ends.iter();
        let dead_ends = dead_ends.filter(|name| !self.failed.contains_key(*name));
        names.chain(dead_ends).map(String::as_str)
    }
}

impl<T, E, F: ?Sized> Plan<'_, T, E, F> {
    /// Returns the current state of the subtasks, to be saved. The outputs are shared with the plan, not copied.
    /// [`journal`](Self::journal) records each change while the plan runs.
    pub fn state(&self) -> PlanState<T>
    where
        E: fmt::Display,
    {
        let mut state = PlanState::new(self.executions);
        for node in &self.nodes {
            state.add(node);
        }
        state
    }

    /// Returns a state with only the outputs that the subtask `name` depends on, and no executions. Another process
    /// loads this state to [start](Self::start) only that subtask. Fails if there is no such subtask.
    pub fn inputs(&self, name: &str) -> Result<PlanState<T>, PlanError>
    where
        E: fmt::Display,
    {
        let needs = self.nodes[self.index_of(name)?].subtask.needs.iter();
        let mut inputs = PlanState::new(0);
        for node in needs.filter_map(|name| self.node(name)) {
            inputs.add(node);
        }
        Ok(inputs)
    }

    /// Loads a saved state. Completed subtasks get their outputs and do not run again. Failed subtasks and dead ends
    /// keep their status. The state's executions are added to this plan's. Subtasks that are not in the state stay as
    /// they were.
    ///
    /// Fails if the state has subtasks that the plan doesn't have. The error names all of them, and nothing is loaded.
    pub fn load(&mut self, state: PlanState<T>) -> Result<(), PlanError> {
        let unknown: Vec<&str> = state
            .names()
            .filter(|name| !self.by_name.contains_key(*name))
            .collect();
        if !unknown.is_empty() {
            return Err(PlanError(format!(
                "the state has subtasks that the plan doesn't have: {}; add them before it is loaded",
                unknown.join(", ")
            )));
        }
        let dead_ends: HashSet<&str> = state.dead_ends.iter().map(String::as_str).collect();
        for (name, text) in state.failed {
            let dead_end = dead_ends.contains(name.as_str());
            let failure = SubtaskFailure {
                error: None,
                text: Some(text),
            };
            self.set(&name, State::Failed { failure, dead_end });
        }
        for (name, output) in state.completed {
            self.set(&name, State::Completed(output));
        }
        self.executions = self.executions.saturating_add(state.executions);
        // The journal doesn't record loaded executions again.
        if let Some(journal) = &mut self.journal {
            journal.executions = journal.executions.saturating_add(state.executions);
        }
        Ok(())
    }

    fn set(&mut self, name: &str, state: State<T, E>) {
        if let Some(index) = self.by_name.get(name) {
            let node = &mut self.nodes[*index];
            node.state = state;
            node.executions = node.executions.max(1);
        }
    }
}
