use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::observe::reason::Reason;
use crate::plan::event::{Ended, PlanEvent, emit};
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::summary::Names;
use crate::plan::{Plan, PlanError, Summary};
use crate::time::race::race;

/// What a subtask is that failed before and fails again.
#[derive(Clone, Copy)]
pub(crate) enum Again {
    DeadEnd,
    Failed,
}

impl<'a, T, E, F, R> Plan<'a, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Executes every subtask that has not run yet, as soon as everything it depends on has succeeded. Ends when
    /// nothing more can run: every subtask has completed, failed or is blocked by a failed one.
    ///
    /// Subtasks that failed before stay as they are: [`retry_failed`](Self::retry_failed) runs them again. The error
    /// comes from [`check`](Self::check); failures of subtasks are in the summary.
    ///
    /// The subtasks run on the task that awaits this; none is spawned. While one computes without awaiting, the others
    /// wait.
    pub async fn run(&mut self) -> Result<Summary, PlanError> {
        let graph = self.checked()?;
        let scope = self.scope(Node::is_pending);
        let endless = pin!(pending());
        self.execute(&graph, &scope, Again::DeadEnd, endless).await;
        Ok(self.log_summary())
    }

    /// Executes the failed subtasks, dead ends included, and then those that they had blocked. If none had failed,
    /// nothing runs.
    ///
    /// A subtask that fails again is a dead end. It still counts as failed, so another `retry_failed` tries it again.
    /// It keeps its error until its retry has ended, even if the retry is dropped or can't begin. The latter happens to
    /// a loaded failure that now depends on something that has not run yet.
    pub async fn retry_failed(&mut self) -> Result<Summary, PlanError> {
        let graph = self.checked()?;
        let mut scope = graph.blocked_by(&self.nodes, Node::is_failed);
        let failed = (0..self.len()).filter(|place| self.nodes[*place].is_failed());
        let mut begins = false;
        for place in failed {
            scope[place] = true;
            begins |= self.is_ready(place, &graph);
        }
        if begins {
            emit(&PlanEvent::Retrying {
                plan: &self.name,
                error: &self.failures(Node::is_failed),
            });
        }
        let endless = pin!(pending());
        self.execute(&graph, &scope, Again::DeadEnd, endless).await;
        Ok(self.log_summary())
    }

    pub(crate) fn scope(&self, runs: impl Fn(&Node<'a, T, E, F>) -> bool) -> Vec<bool> {
        self.nodes.iter().map(runs).collect()
    }

    /// Executes the subtasks in `scope`, none of which has completed, as their dependencies complete. Once `end` completes,
    /// those under way are dropped, and returned.
    pub(crate) async fn execute(
        &mut self,
        graph: &Graph,
        scope: &[bool],
        again: Again,
        mut end: Pin<&mut impl Future<Output = ()>>,
    ) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = graph
            .after
            .iter()
            .map(|after| {
                after
                    .iter()
                    .filter(|place| !self.is_completed(**place))
                    .count()
            })
            .collect();
        let mut ready: VecDeque<usize> = (0..self.len())
            .filter(|place| waiting[*place] == 0 && scope[*place])
            .collect();
        let mut places = BTreeSet::new();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < self.concurrency.get() {
                let Some(place) = ready.pop_front() else {
                    break;
                };
                let subtask = self.execute_one(place, graph);
                places.insert(place);
                under_way.push(async move { (place, subtask.await) });
            }
            let next = if under_way.is_empty() {
                None
            } else {
                race(pin!(under_way.next()), end.as_mut()).await.flatten()
            };
            let Some((place, outcome)) = next else {
                return places;
            };
            places.remove(&place);
            if !self.finish(place, outcome, again) {
                continue;
            }
            for dependent in &graph.dependents[place] {
                waiting[*dependent] -= 1;
                if waiting[*dependent] == 0 && scope[*dependent] {
                    ready.push_back(*dependent);
                }
            }
        }
    }

    fn is_completed(&self, place: usize) -> bool {
        self.nodes[place].output().is_some()
    }

    /// Whether all that it depends on has completed.
    pub(crate) fn is_ready(&self, place: usize, graph: &Graph) -> bool {
        let mut after = graph.after[place].iter();
        after.all(|place| self.is_completed(*place))
    }

    fn execute_one(&mut self, place: usize, graph: &Graph) -> R {
        let outputs = graph.after[place]
            .iter()
            .filter_map(|place| self.nodes[*place].output().cloned())
            .collect();
        self.count(place);
        self.nodes[place].subtask.start(outputs)
    }

    /// Counts an execution of that subtask.
    pub(crate) fn count(&mut self, place: usize) {
        self.executions = self.executions.saturating_add(1);
        let node = &mut self.nodes[place];
        node.executions = node.executions.saturating_add(1);
    }

    /// Keeps the outcome, and says whether it is a success.
    pub(crate) fn finish(&mut self, place: usize, outcome: Result<T, E>, again: Again) -> bool {
        let node = &mut self.nodes[place];
        node.retried = node.is_failed();
        let completed = outcome.is_ok();
        let ended = match (completed, node.retried, again) {
            (true, false, _) => Ended::Completed,
            (true, true, _) => Ended::Healed,
            (false, true, Again::DeadEnd) => Ended::DeadEnd,
            (false, ..) => Ended::Failed,
        };
        let dead_end = matches!(ended, Ended::DeadEnd);
        node.state = match outcome {
            Ok(output) => State::Completed(Arc::new(output)),
            Err(error) => State::Failed {
                failure: SubtaskFailure::Error(error),
                dead_end,
            },
        };
        self.ended(place, ended, dead_end.then_some(Reason::Exhausted));
        completed
    }

    pub(crate) fn make_dead_end(&mut self, place: usize, reason: Reason) {
        if let State::Failed { dead_end, .. } = &mut self.nodes[place].state {
            *dead_end = true;
            self.ended(place, Ended::DeadEnd, Some(reason));
        }
    }

    /// Tells of what became of a subtask.
    fn ended(&mut self, place: usize, ended: Ended, reason: Option<Reason>) {
        #[cfg(feature = "serde")]
        self.record(place);
        self.log_subtask(place, ended, reason);
    }

    fn log_subtask(&self, place: usize, ended: Ended, reason: Option<Reason>) {
        let node = &self.nodes[place];
        let error = node.failure().map(|failure| failure as &dyn fmt::Display);
        emit(&PlanEvent::Subtask {
            ended,
            plan: &self.name,
            subtask: node.name(),
            attempt: node.executions,
            error,
            reason,
        });
    }

    pub(crate) fn log_summary(&self) -> Summary {
        let summary = self.summary();
        emit(&PlanEvent::Summary {
            plan: &self.name,
            summary: &summary,
        });
        summary
    }

    /// The subtasks that the deadline ended, in words.
    pub(crate) fn under_way(&self, places: &BTreeSet<usize>) -> String {
        let names = places.iter().map(|place| &**self.nodes[*place].name());
        format!(
            "{} under way at the deadline: {}",
            places.len(),
            Names(names)
        )
    }

    /// The subtasks that are to be retried, in words.
    pub(crate) fn failures(&self, retried: impl Fn(&Node<'a, T, E, F>) -> bool + Clone) -> String {
        let failed = self.nodes.iter().filter(move |node| retried(node));
        let names = failed.clone().map(|node| &**node.name());
        let (count, all) = (failed.count(), self.len());
        format!("{count} of {all} subtasks failed: {}", Names(names))
    }
}
