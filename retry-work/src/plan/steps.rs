//! Plans with another executor, which runs the subtasks and reports their outcomes to the plan.

use std::fmt;
use std::sync::Arc;

use crate::plan::event::RepeatFailure;
use crate::plan::graph::Graph;
use crate::plan::node::{Node, SubtaskFailure};
use crate::plan::{Plan, PlanError};

impl<T, E, F, R> Plan<'_, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Returns the subtasks that can start, in the order in which they were added: they have not run yet, and all of
    /// their dependencies have completed.
    ///
    /// Use it with your own executor, such as a replaying engine, in which subtasks must complete in the same order
    /// each time, or an executor that sends subtasks to other machines. Start these subtasks, then those that
    /// [`complete`](Self::complete) returns. Failed subtasks are in [`summary`](Self::summary), and may be started
    /// again.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use retry_work::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), retry_work::plan::PlanError> {
    /// let mut plan = Plan::<u32, String>::new();
    /// plan.add("two", [], async |[]| Ok(2));
    /// plan.add("three", [], async |[]| Ok(3));
    /// plan.add("product", ["two", "three"], async |[left, right]| Ok(*left * *right));
    ///
    /// // One after another.
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
    /// The plan doesn't track subtasks in flight, so a started subtask is included until it has completed. Fails like
    /// [`check`](Self::check).
    pub fn ready(&self) -> Result<Vec<Arc<str>>, PlanError> {
        let graph = self.checked()?;
        Ok(self.ready_names(&graph, 0..self.len()).collect())
    }

    /// Starts only this subtask, with the outputs of its dependencies. Returns the future of its closure.
    ///
    /// The plan is not updated: pass the outcome to [`complete`](Self::complete), in this process or in another one.
    /// Dropping the future changes nothing. Fails if there is no such subtask, if it has completed, or if it still
    /// waits for another.
    pub fn start(&self, name: &str) -> Result<R, PlanError> {
        self.startable_index(name).map(|index| self.start_at(index))
    }

    /// Stores the outcome of a subtask that was run elsewhere, and counts the execution. Returns the subtasks that can
    /// start now because they were only waiting for this one.
    ///
    /// A subtask that fails again is a dead end, as with [`retry_failed`](Self::retry_failed). Fails like
    /// [`start`](Self::start), and leaves the plan unchanged: no subtask completes twice, or before its dependencies.
    pub fn complete(
        &mut self,
        name: &str,
        outcome: Result<T, E>,
    ) -> Result<Vec<Arc<str>>, PlanError> {
        let graph = self.graph()?;
        let index = self.startable_index(name)?;
        self.count_execution(index);
        let plan = Arc::clone(&self.name);
        let outcome = outcome.map_err(|error| SubtaskFailure {
            error: Some(error),
            text: None,
        });
        if !self.finish(&plan, index, outcome, RepeatFailure::DeadEnd) {
            return Ok(Vec::new());
        }
        let next = self.unblocked(index, &graph).into_iter();
        Ok(self.ready_names(&graph, next).collect())
    }

    /// The subtasks at these indices that can start.
    fn ready_names(
        &self,
        graph: &Graph,
        indices: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = Arc<str>> {
        indices
            .filter(|index| self.nodes[*index].is_pending() && self.is_ready(*index, graph))
            .map(|index| Arc::clone(self.nodes[index].name()))
    }

    /// The index of a subtask that has not completed and can start.
    fn startable_index(&self, name: &str) -> Result<usize, PlanError> {
        let index = self.index_of(name)?;
        let node = &self.nodes[index];
        if node.is_completed() {
            return Err(PlanError(format!("`{name}` has already completed")));
        }
        let completed = |name| self.node(name).is_some_and(Node::is_completed);
        match node.subtask.needs.iter().find(|name| !completed(name)) {
            Some(dependency) => Err(PlanError(format!(
                "`{name}` can't run before `{dependency}`, which has not completed"
            ))),
            None => Ok(index),
        }
    }
}
