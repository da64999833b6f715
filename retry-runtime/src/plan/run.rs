use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::fmt;
use core::future::{Future, pending};
use core::pin::pin;
use core::time::Duration;

use crate::chain::keys::{Keys, SharedKeys};
use crate::chain::on_error::OnError;
use crate::chain::span::SpanKey;
use crate::chain::under_way::{Awaited, Bounds, Next, UnderWay, turn};
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::plan::event::{Ended, report_retry, report_subtask, report_summary};
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::plan_run::{AttemptsOf, PlanRun, SubtaskShared};
use crate::plan::summary::Names;
use crate::plan::{Plan, PlanError, Summary};
use crate::policy::Policy;
use crate::time::attempt_clock::Clock;
use crate::time::signal::Signal;
use crate::time::timer::{Timer, TimerFn};

/// An execution of the subtask at an index, and what it waits for, if it may not begin yet. `None`
/// if it was rejected.
type Standing<K> = Option<(usize, AttemptsOf<K>, Option<Awaited>)>;
/// What an attempt waits for after a step, or what rejected it.
type Step = Result<Option<Awaited>, RejectedBy>;

/// What becomes of a subtask that failed before and fails again.
#[derive(Clone, Copy)]
pub(crate) enum Again {
    DeadEnd,
    Failed,
}

impl<T, E, F, R> Plan<'_, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Executes every subtask that has not run yet, as soon as everything it depends on has succeeded. Ends when
    /// nothing more can run: every subtask has completed, failed or is blocked by a failed one.
    ///
    /// Subtasks that failed before stay as they are: [`retry_failed`](Self::retry_failed) runs them again. The error
    /// comes from [`check`](Self::check), or says that the plan is [`driven`](Self::driven). Failures of subtasks are in
    /// the summary.
    ///
    /// The subtasks run on the task that awaits this; none is spawned. While one computes without awaiting, the others
    /// wait.
    pub async fn run(&mut self) -> Result<Summary, PlanError> {
        let graph = self.runnable()?;
        let scope = self.scope(Node::is_pending);
        self.execute(graph, scope).await;
        Ok(self.log_summary(&self.name))
    }

    /// Executes the failed subtasks, dead ends included, and then those that they had blocked. If none had failed,
    /// nothing runs.
    ///
    /// A subtask that fails again is a dead end. It still counts as failed, so another `retry_failed` tries it again.
    /// The error is kept until the retry has ended, even if the retry is dropped or can't begin. The latter happens to
    /// a loaded failure that now depends on something that has not run yet. The error comes from
    /// [`check`](Self::check), or says that the plan is [`driven`](Self::driven).
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
            report_retry(&self.name, &self.failures(Node::is_failed));
        }
        self.execute(graph, scope).await;
        Ok(self.log_summary(&self.name))
    }

    /// Executes the subtasks in `scope` without keys and without an end.
    async fn execute(&mut self, graph: Graph, scope: Vec<bool>) {
        let on = |_: &E| Verdict::STOP;
        let mut run = PlanRun::new(self, &Policy::none(), on, Keys::new(), || Clock::None);
        (run.graph, run.scope, run.again) = (graph, scope, Again::DeadEnd);
        run.begin_round();
        let never = pin!(pending::<()>());
        let mut bounds = Bounds {
            timer: &TimerFn::new(|_| pending::<()>()),
            deadline: None,
            end: pin!(pending()),
            signal: Signal::new(never).await,
        };
        run.execute(&mut bounds).await;
    }
}

impl<'a, T, E: fmt::Display, F: ?Sized> Plan<'a, T, E, F> {
    pub(crate) fn scope(&self, runs: impl Fn(&Node<'a, T, E, F>) -> bool) -> Vec<bool> {
        self.nodes.iter().map(runs).collect()
    }

    /// Whether all that the subtask depends on has completed.
    pub(crate) fn is_ready(&self, index: usize, graph: &Graph) -> bool {
        let mut after = graph.after[index].iter();
        after.all(|index| self.nodes[*index].is_completed())
    }

    /// Counts an execution of that subtask.
    pub(crate) fn count(&mut self, index: usize) {
        self.executions = self.executions.saturating_add(1);
        let node = &mut self.nodes[index];
        node.executions = node.executions.saturating_add(1);
    }

    /// Keeps the outcome, and says whether it is a success.
    pub(crate) fn finish(
        &mut self,
        plan: &str,
        index: usize,
        outcome: Result<T, SubtaskFailure<E>>,
        again: Again,
    ) -> bool {
        let node = &mut self.nodes[index];
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
            Err(failure) => State::Failed { failure, dead_end },
        };
        self.ended(plan, index, ended, dead_end.then_some(Reason::Exhausted));
        completed
    }

    /// Tells of what became of a subtask.
    pub(crate) fn ended(&mut self, plan: &str, index: usize, ended: Ended, reason: Option<Reason>) {
        #[cfg(feature = "serde")]
        self.record(index);
        let node = &self.nodes[index];
        let error = node.failure().map(|failure| failure as &dyn fmt::Display);
        report_subtask(ended, plan, node.name(), node.executions, error, reason);
    }

    pub(crate) fn log_summary(&self, plan: &str) -> Summary {
        let summary = self.summary();
        report_summary(plan, &summary);
        summary
    }

    /// The subtasks that the deadline ended, in words.
    pub(crate) fn under_way(&self, indices: &BTreeSet<usize>) -> String {
        let names = indices.iter().map(|index| &**self.nodes[*index].name());
        format!(
            "{} under way at the deadline: {}",
            indices.len(),
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

impl<T, E, F, R, On, K> PlanRun<'_, '_, T, E, F, On, K>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
    On: OnError<E>,
    K: SharedKeys,
{
    /// Executes the subtasks in its scope as their dependencies complete. None of them has
    /// completed yet. At the end that `bounds` sets, those under way are dropped. Returns those
    /// that were too late, if any were.
    pub(crate) async fn execute(
        &mut self,
        bounds: &mut Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
    ) -> Option<BTreeSet<usize>> {
        let mut waiting = self.waiting();
        let mut ready: VecDeque<usize> = (0..waiting.len())
            .filter(|index| waiting[*index] == 0 && self.scope[*index])
            .collect();
        let mut under_way = UnderWay::new(self.plan.concurrency.get());
        let mut late = BTreeSet::new();
        let (timer, deadline) = (bounds.timer, bounds.deadline);
        loop {
            let mut next = None;
            while next.is_none() && under_way.has_room() {
                let Some(index) = ready.pop_front() else {
                    break;
                };
                // Subtasks that wait for nothing would never let the end be asked.
                if bounds.is_over() {
                    late.insert(index);
                    self.not_begun(index, RejectedBy::Deadline);
                    continue;
                }
                let attempts = self.attempt_of(index);
                next = self.proceed(index, attempts, Ok(None), bounds);
            }
            if next.is_none() {
                if under_way.is_empty() {
                    return (!late.is_empty()).then_some(late);
                }
                match under_way.next(bounds).await {
                    Next::Turn(index, (), (attempts, waited)) => {
                        next = self.proceed(index, attempts, waited, bounds);
                    }
                    Next::Ended(index, attempts, outcome) => {
                        if self.executed(index, attempts, outcome) {
                            let dependents = &self.graph.dependents[index];
                            ready.extend(freed(dependents, &mut waiting, &self.scope));
                        }
                    }
                    Next::Stopped(by, queued, begun) => {
                        for (index, ()) in &queued {
                            self.not_begun(*index, by);
                        }
                        if by == RejectedBy::Deadline {
                            late.extend(queued.into_iter().map(|(index, ())| index));
                            for (index, attempts) in begun {
                                drop(attempts);
                                late.insert(index);
                                self.dropped(index);
                            }
                            return Some(late);
                        }
                    }
                }
            }
            if let Some((index, attempts, None)) = next {
                next = self.standing(index, attempts, bounds, |attempts, subtask| {
                    attempts.begin(subtask).map(|()| None)
                });
            }
            match next {
                Some((index, attempts, None)) => {
                    let span = self.span_of(index);
                    let attempt = K::Span::within(span, || self.execute_one(index));
                    under_way.begin(index, attempts, attempt);
                }
                Some((index, attempts, Some(awaited))) => {
                    under_way.wait(index, (), turn(attempts, awaited, timer, deadline));
                }
                None => {}
            }
        }
    }

    /// Ends what an execution waited for. Without a time, it takes a place with the limiter.
    fn proceed(
        &mut self,
        index: usize,
        attempts: AttemptsOf<K>,
        waited: Result<Option<Duration>, RejectedBy>,
        bounds: &mut Bounds<'_, impl Timer, impl Sized, impl Future>,
    ) -> Standing<K> {
        self.standing(index, attempts, bounds, |attempts, subtask| {
            attempts.proceed(subtask, 1, waited)
        })
    }

    /// Has an execution take a step. If it is rejected, it is tried again after a pause, or else
    /// the subtask runs no more in this run.
    fn standing(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<K>,
        bounds: &mut Bounds<'_, impl Timer, impl Sized, impl Future>,
        step: impl FnOnce(&mut AttemptsOf<K>, &mut SubtaskShared<'_, K>) -> Step,
    ) -> Standing<K> {
        let subtask = &mut self.of(index);
        let awaited = step(&mut attempts, subtask);
        let tried_again = |by| {
            let clock = (bounds.deadline, || bounds.timer.now());
            attempts.tried_again(subtask, by, bounds.signal.is_cancelled(), clock)
        };
        match awaited.or_else(tried_again) {
            Ok(awaited) => Some((index, attempts, awaited)),
            Err(by) => {
                drop(attempts);
                self.not_begun(index, by);
                None
            }
        }
    }

    /// Takes in the outcome of an execution, and says whether it is a success.
    fn executed(&mut self, index: usize, attempts: AttemptsOf<K>, outcome: Result<T, E>) -> bool {
        let outcome = match outcome {
            Ok(output) => {
                self.succeeded(index, attempts);
                Ok(output)
            }
            Err(error) => Err(self.failed(index, attempts, error)),
        };
        let plan = self.rules.name();
        let completed = self.plan.finish(plan, index, outcome, self.again);
        if let (false, Again::Failed) = (completed, self.again) {
            self.refuse_final(index);
        }
        completed
    }

    /// For how many of those that it depends on each subtask waits.
    fn waiting(&self) -> Vec<usize> {
        let nodes = &self.plan.nodes;
        let open = |after: &Vec<usize>| {
            let open = after.iter().filter(|index| !nodes[**index].is_completed());
            open.count()
        };
        self.graph.after.iter().map(open).collect()
    }

    fn execute_one(&mut self, index: usize) -> R {
        let outputs = self.graph.after[index]
            .iter()
            .filter_map(|index| self.plan.nodes[*index].output().cloned())
            .collect();
        self.plan.count(index);
        self.plan.nodes[index].subtask.start(outputs)
    }

    /// A subtask that was not let begin stays as it was, but runs no more in this run.
    fn not_begun(&mut self, index: usize, by: RejectedBy) {
        self.rejected(index, by);
        self.without_outcome(index, Ended::NotBegun, &Rejected::new(by), by.reason());
    }

    /// A subtask was running when the deadline came.
    fn dropped(&mut self, index: usize) {
        let error = "dropped before it ended";
        self.without_outcome(index, Ended::GaveUp, &error, Reason::Deadline);
    }

    /// Tells of a subtask that ends for this run without an outcome. One that had failed before keeps its error.
    fn without_outcome(
        &mut self,
        index: usize,
        ended: Ended,
        error: &dyn fmt::Display,
        reason: Reason,
    ) {
        let node = &self.plan.nodes[index];
        if node.is_failed() {
            self.make_dead_end(index, reason);
            return;
        }
        let (plan, attempt) = (self.rules.name(), node.executions);
        report_subtask(ended, plan, node.name(), attempt, Some(error), Some(reason));
        self.gave_up(index, Some(error), reason);
    }
}

/// The dependents of a completed subtask that are to run and wait for no other.
fn freed<'s>(
    dependents: &'s [usize],
    waiting: &'s mut [usize],
    scope: &'s [bool],
) -> impl Iterator<Item = usize> + 's {
    let freed = move |dependent: &usize| {
        waiting[*dependent] -= 1;
        waiting[*dependent] == 0 && scope[*dependent]
    };
    dependents.iter().copied().filter(freed)
}
