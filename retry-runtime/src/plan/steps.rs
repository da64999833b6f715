//! A plan without its executor: whoever runs the subtasks elsewhere tells it what became of them.

use alloc::sync::Arc;
use core::fmt;
use core::future::Future;

use crate::plan::graph::Graph;
use crate::plan::node::{Node, SubtaskFailure};
use crate::plan::run::Again;
use crate::plan::{Plan, PlanError};

impl<T, E, F, R> Plan<'_, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// The subtasks that can begin: they have not run yet, and everything they depend on has completed. In the order in
    /// which they were added.
    ///
    /// For an executor of your own, such as an engine that replays what happened and must see completions in the same
    /// order each time, or one that sends subtasks to other machines. It begins these, then those that
    /// [`complete`](Self::complete) returns. Failed subtasks are in [`summary`](Self::summary), and may begin again.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use retry_runtime::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), retry_runtime::plan::PlanError> {
    /// let mut plan = Plan::<u32, String>::new();
    /// plan.add("two", [], async |[]| Ok(2));
    /// plan.add("three", [], async |[]| Ok(3));
    /// plan.add("product", ["two", "three"], async |[left, right]| Ok(*left * *right));
    ///
    /// // One after the other.
    /// let mut ready = VecDeque::from(plan.ready()?);
    /// while let Some(name) = ready.pop_front() {
    ///     let outcome = plan.start(&name)?.await;
    ///     ready.extend(plan.complete(&name, outcome)?);
    /// }
    /// assert_eq!(plan.output("product"), Some(&6));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Make the plan [`driven`](Self::driven), so that nothing else runs it.
    ///
    /// The plan doesn't know what is under way, so a subtask that has begun is among them until it has completed. The
    /// error comes from [`check`](Self::check).
    pub fn ready(&self) -> Result<Vec<Arc<str>>, PlanError> {
        let graph = self.checked()?;
        Ok(self.begin(&graph, 0..self.len()).collect())
    }

    /// Runs this subtask alone, with the outputs of what it depends on: the future that its closure returns.
    ///
    /// The plan is not told: give the outcome to [`complete`](Self::complete), of this plan or of one in another
    /// process. A future that is dropped leaves everything as it was. The error says that there is no such subtask,
    /// that it has completed, or what it still waits for.
    pub fn start(&self, name: &str) -> Result<R, PlanError> {
        self.open(name).map(|index| self.start_at(index))
    }

    /// Keeps what became of a subtask that was run elsewhere, and counts the execution. Returns the subtasks that can
    /// begin now, because this was the last that they waited for.
    ///
    /// A subtask that fails again is a dead end, as with [`retry_failed`](Self::retry_failed). The error is that of
    /// [`start`](Self::start): nothing completes twice, and nothing before what it depends on. Then the plan is
    /// unchanged.
    pub fn complete(
        &mut self,
        name: &str,
        outcome: Result<T, E>,
    ) -> Result<Vec<Arc<str>>, PlanError> {
        let graph = self.graph()?;
        let index = self.open(name)?;
        self.count(index);
        let plan = Arc::clone(&self.name);
        let outcome = outcome.map_err(|error| SubtaskFailure {
            error: Some(error),
            text: None,
        });
        if !self.finish(&plan, index, outcome, Again::DeadEnd) {
            return Ok(Vec::new());
        }
        let freed = self.freed(index, &graph).into_iter();
        Ok(self.begin(&graph, freed).collect())
    }

    /// The subtasks at these indices that can begin.
    fn begin(
        &self,
        graph: &Graph,
        indices: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = Arc<str>> {
        indices
            .filter(|index| self.nodes[*index].is_pending() && self.is_ready(*index, graph))
            .map(|index| Arc::clone(self.nodes[index].name()))
    }

    /// The index of a subtask that has not completed and can begin.
    fn open(&self, name: &str) -> Result<usize, PlanError> {
        let index = self.index_of(name)?;
        let node = &self.nodes[index];
        if node.is_completed() {
            return Err(PlanError(format!(
                "`{name}` has completed, and runs no more"
            )));
        }
        let completed = |name| self.node(name).is_some_and(Node::is_completed);
        match node.subtask.after.iter().find(|name| !completed(name)) {
            Some(dependency) => Err(PlanError(format!(
                "`{name}` can't run before `{dependency}`, which has not completed"
            ))),
            None => Ok(index),
        }
    }
}
