use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::{fmt, mem};

use retry_runtime::chain::{IntoChain, OnError};
use retry_runtime::macro_support::{Bounds, Job, bounds};
use retry_runtime::seam::{Timer, TimerFn};
use retry_runtime::{Policy, Reason, Rejected, RejectedBy, Verdict};

use crate::in_flight::{self, BegunAndWaiting, Unit, Work};
use crate::plan::event::{Exit, RepeatFailure, report_retry, report_subtask, report_summary};
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::plan_run::PlanRun;
use crate::plan::summary::Names;
use crate::plan::{Plan, PlanError, Subtask, Summary};

impl<T, E, F, R> Plan<'_, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Executes every subtask that has not run yet, as soon as all of its dependencies have succeeded. Ends when
    /// nothing more can run: every subtask has completed, failed or is blocked by a failed one.
    ///
    /// Subtasks that failed before are not run: [`retry_failed`](Self::retry_failed) runs them again. Fails like
    /// [`check`](Self::check), or if the plan is [`driven`](Self::driven). Failures of subtasks are only in the
    /// summary.
    ///
    /// The subtasks run on the task that awaits this future; none is spawned. While one subtask computes without
    /// awaiting, the others wait.
    pub async fn run(&mut self) -> Result<Summary, PlanError> {
        let graph = self.runnable()?;
        let scope = self.scope(Node::is_pending);
        Ok(self.execute(graph, scope).await)
    }

    /// Executes the failed subtasks, including dead ends, and then those that they had blocked. If none had failed,
    /// nothing runs.
    ///
    /// A subtask that fails again is a dead end. It still counts as failed, so another `retry_failed` tries it again.
    /// A failed subtask's error is kept until the retry has ended, even if the retry is dropped or can't start. If the
    /// failure was loaded, the subtask can't start if it now depends on one that has not run yet. Fails like
    /// [`check`](Self::check), or if the plan is [`driven`](Self::driven).
    pub async fn retry_failed(&mut self) -> Result<Summary, PlanError> {
        let graph = self.runnable()?;
        let mut scope = graph.blocked(&self.nodes);
        let failed = (0..self.len()).filter(|index| self.nodes[*index].is_failed());
        let mut begins = false;
        for index in failed {
            scope[index] = true;
            begins |= self.is_ready(index, &graph);
        }
        if begins {
            report_retry(&self.name, &self.list_failed(Node::is_failed));
        }
        Ok(self.execute(graph, scope).await)
    }

    /// Executes the subtasks in `scope` without keys and without a deadline.
    async fn execute(&mut self, graph: Graph, scope: Vec<bool>) -> Summary {
        let chain = Policy::none().on(|_: &E| Verdict::STOP);
        let timer = TimerFn::new(|_| pending::<()>());
        let chain = chain.timer(timer).into_chain();
        let shared = chain.shared;
        let name = Arc::clone(&self.name);
        let job = Job::new(chain.context, &name, &shared, Timer::now);
        let mut bounds = bounds(&shared.timer, &name, job.deadline(), chain.cancel).await;
        let mut run = PlanRun::new(self, (graph, scope), RepeatFailure::DeadEnd, job, chain.on);
        run.begin_round();
        run.execute(&mut bounds).await;
        drop(run);
        self.log_summary(&name)
    }
}

impl<'a, T, E: fmt::Display, F: ?Sized> Plan<'a, T, E, F> {
    pub(crate) fn scope(&self, runs: impl Fn(&Node<'a, T, E, F>) -> bool) -> Vec<bool> {
        self.nodes.iter().map(runs).collect()
    }

    /// Returns true if all dependencies of the subtask have completed.
    pub(crate) fn is_ready(&self, index: usize, graph: &Graph) -> bool {
        let mut needs = graph.needs[index].iter();
        needs.all(|index| self.nodes[*index].is_completed())
    }

    /// The dependents of a completed subtask that were only waiting for it.
    pub(crate) fn unblocked(&mut self, index: usize, graph: &Graph) -> Vec<usize> {
        let mut unblocked = graph.dependents[index].clone();
        // A dependent that names this subtask twice is listed twice, in a row.
        unblocked.dedup();
        unblocked.retain(|dependent| !self.is_waiting(*dependent, graph));
        unblocked
    }

    /// Returns true if a subtask waits for another. Starts at the dependency that the subtask last waited for, because
    /// checking all dependencies each time would be quadratic.
    fn is_waiting(&mut self, index: usize, graph: &Graph) -> bool {
        let (from, all) = (self.nodes[index].waits_for, &graph.needs[index]);
        let mut rest = all[from..].iter();
        let open = rest.position(|index| !self.nodes[*index].is_completed());
        self.nodes[index].waits_for = open.map_or(all.len(), |open| from + open);
        open.is_some()
    }

    /// Starts that subtask with the outputs of its dependencies.
    pub(crate) fn start_at<R>(&self, index: usize) -> R
    where
        F: Fn(Vec<Arc<T>>) -> R,
    {
        let Subtask { needs, run, .. } = &self.nodes[index].subtask;
        let outputs = needs.iter().map(|name| self.node(name)?.output().cloned());
        run(outputs.flatten().collect())
    }

    /// Counts an execution of that subtask.
    pub(crate) fn count_execution(&mut self, index: usize) {
        self.executions = self.executions.saturating_add(1);
        let node = &mut self.nodes[index];
        node.executions = node.executions.saturating_add(1);
    }

    /// Stores the outcome, and returns true if it is a success.
    pub(crate) fn finish(
        &mut self,
        plan: &str,
        index: usize,
        outcome: Result<T, SubtaskFailure<E>>,
        repeat_failure: RepeatFailure,
    ) -> bool {
        let node = &mut self.nodes[index];
        node.retried = node.is_failed();
        let completed = outcome.is_ok();
        let ended = match (completed, node.retried, repeat_failure) {
            (true, false, _) => Exit::Completed,
            (true, true, _) => Exit::Recovered,
            (false, true, RepeatFailure::DeadEnd) => Exit::DeadEnd,
            (false, ..) => Exit::Failed,
        };
        let dead_end = matches!(ended, Exit::DeadEnd);
        node.state = match outcome {
            Ok(output) => State::Completed(Arc::new(output)),
            Err(failure) => State::Failed { failure, dead_end },
        };
        self.report(plan, index, ended, dead_end.then_some(Reason::Exhausted));
        completed
    }

    /// Reports the result of a subtask.
    pub(crate) fn report(&mut self, plan: &str, index: usize, exit: Exit, reason: Option<Reason>) {
        #[cfg(feature = "serde")]
        self.record(index);
        let node = &self.nodes[index];
        let error = node.failure().map(|failure| failure as &dyn fmt::Display);
        report_subtask(exit, plan, node.name(), node.executions, error, reason);
    }

    pub(crate) fn log_summary(&self, plan: &str) -> Summary {
        let summary = self.summary();
        report_summary(plan, &summary);
        summary
    }

    /// Lists the subtasks that the deadline ended.
    pub(crate) fn list_late(&self, indices: &BTreeSet<usize>) -> String {
        let names = indices.iter().map(|index| &**self.nodes[*index].name());
        format!(
            "{} under way at the deadline: {}",
            indices.len(),
            Names(names)
        )
    }

    /// Lists the failed subtasks for which `keep` returns true.
    pub(crate) fn list_failed(&self, keep: impl Fn(&Node<'a, T, E, F>) -> bool + Clone) -> String {
        let failed = self.nodes.iter().filter(move |node| keep(node));
        let names = failed.clone().map(|node| &**node.name());
        let (count, all) = (failed.count(), self.len());
        format!("{count} of {all} subtasks failed: {}", Names(names))
    }
}

impl<T, E, F, Q> PlanRun<'_, '_, T, E, F, Q>
where
    F: ?Sized,
    E: fmt::Display,
    Q: IntoChain<On: OnError<E>, Timer: Timer>,
{
    /// Executes the subtasks in the scope, none of which has completed, as their dependencies complete. When the
    /// deadline ends the run, subtasks in flight are dropped. Returns the subtasks that the deadline ended.
    pub(crate) async fn execute<R>(
        &mut self,
        bounds: &mut Bounds<impl Future<Output = ()>, impl Future>,
    ) -> BTreeSet<usize>
    where
        F: Fn(Vec<Arc<T>>) -> R,
        R: Future<Output = Result<T, E>>,
    {
        let ready = (0..self.plan.len())
            .filter(|index| self.scope[*index] && self.plan.is_ready(*index, &self.graph));
        self.ready = ready.collect();
        let most = self.plan.concurrency.get();
        let executed = in_flight::run(self, most, bounds, |run, (index, _)| {
            let span = run.span_of(*index);
            run.plan.count_execution(*index);
            span.within(|| run.plan.start_at(*index))
        });
        executed.await;
        mem::take(&mut self.late)
    }

    /// Handles a rejected subtask: it stays as it was, but does not run again in this run.
    fn end_rejected(&mut self, index: usize, by: RejectedBy) {
        let run = &mut self.runs[index];
        run.attempts.release();
        run.refused = Some(by.into());
        self.end_without_outcome(index, Exit::NotBegun, &Rejected::new(by), by.into());
    }

    /// Reports a subtask that ends for this run without an outcome. If it had failed before, it keeps its error.
    fn end_without_outcome(
        &mut self,
        index: usize,
        ended: Exit,
        error: &dyn fmt::Display,
        reason: Reason,
    ) {
        let node = &self.plan.nodes[index];
        if node.is_failed() {
            self.make_dead_end(index, reason);
            return;
        }
        let (plan, attempt) = (self.job.context.name(), node.executions);
        report_subtask(ended, plan, node.name(), attempt, Some(error), Some(reason));
        self.report_gave_up(index, Some(error), reason);
    }
}

/// A unit of work is the index of a subtask.
impl<'r, T, E, F, Q> Work<'r, Q, usize, Result<T, E>> for PlanRun<'r, '_, T, E, F, Q>
where
    F: ?Sized,
    E: fmt::Display,
    Q: IntoChain<On: OnError<E>, Timer: Timer>,
{
    fn key(index: &usize) -> usize {
        *index
    }

    fn next(&mut self, _: &mut dyn FnMut() -> bool) -> Option<Unit<'r, Q, usize>> {
        loop {
            let index = self.ready.pop_front()?;
            // If no subtask ever waits, nothing else checks the deadline.
            if !self.job.is_over() {
                return Some((index, self.take_attempts(index)));
            }
            self.late.insert(index);
            self.end_rejected(index, RejectedBy::Deadline);
        }
    }

    fn proceed(
        &mut self,
        (index, mut attempts): Unit<'r, Q, usize>,
        is_cancelled: &mut dyn FnMut() -> bool,
    ) -> BegunAndWaiting<'r, Q, usize> {
        let waits = {
            let (site, reporter) = self.job.parts_of(&mut self.runs[index].part);
            attempts.proceed(&site, is_cancelled, reporter)
        };
        match waits {
            Ok(false) => (Some((index, attempts)), None),
            Ok(true) => (None, Some((index, attempts))),
            Err(by) => {
                drop(attempts);
                self.end_rejected(index, by);
                (None, None)
            }
        }
    }

    fn handle_outcome(&mut self, (index, attempts): Unit<'r, Q, usize>, outcome: Result<T, E>) {
        let outcome = match outcome {
            Ok(output) => {
                self.record_success(index, attempts);
                Ok(output)
            }
            Err(error) => Err(self.record_failure(index, attempts, error)),
        };
        let plan = self.job.context.name();
        if self.plan.finish(plan, index, outcome, self.repeat_failure) {
            let next = self.plan.unblocked(index, &self.graph).into_iter();
            self.ready.extend(next.filter(|index| self.scope[*index]));
        } else if let RepeatFailure::Failed = self.repeat_failure {
            self.refuse_if_final(index);
        }
    }

    fn handle_stop(&mut self, by: RejectedBy, waiting: Vec<usize>, begun: Vec<Unit<'r, Q, usize>>) {
        for index in waiting {
            self.end_rejected(index, by);
            if by == RejectedBy::Deadline {
                self.late.insert(index);
            }
        }
        for (index, attempts) in begun {
            drop(attempts);
            self.late.insert(index);
            let error = "dropped before it ended";
            self.end_without_outcome(index, Exit::GaveUp, &error, Reason::Deadline);
        }
    }
}
