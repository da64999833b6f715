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
use crate::plan::run_keys::{AttemptsOf, Execution, RunKeys};
use crate::plan::summary::Names;
use crate::plan::{Plan, PlanError, Summary};
use crate::policy::Policy;
use crate::time::attempt_clock::Clock;
use crate::time::signal::Signal;
use crate::time::timer::{Timer, TimerFn};

/// An execution, and what it waits for, if it may not begin yet. `None` if it was rejected.
type Standing<K> = Option<(AttemptsOf<K>, Option<Awaited>)>;

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
    /// comes from [`check`](Self::check), or says that the plan is [`driven`](Self::driven). Failures of subtasks are in
    /// the summary.
    ///
    /// The subtasks run on the task that awaits this; none is spawned. While one computes without awaiting, the others
    /// wait.
    pub async fn run(&mut self) -> Result<Summary, PlanError> {
        let graph = self.runnable()?;
        let scope = self.scope(Node::is_pending);
        self.execute_all(&graph, &scope).await;
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
        let mut scope = graph.blocked_by(&self.nodes, Node::is_failed);
        let failed = (0..self.len()).filter(|index| self.nodes[*index].is_failed());
        let mut begins = false;
        for index in failed {
            scope[index] = true;
            begins |= self.is_ready(index, &graph);
        }
        if begins {
            report_retry(&self.name, &self.failures(Node::is_failed));
        }
        self.execute_all(&graph, &scope).await;
        Ok(self.log_summary(&self.name))
    }

    /// Executes the subtasks in `scope` without keys and without an end.
    async fn execute_all(&mut self, graph: &Graph, scope: &[bool]) {
        let on = |_: &E| Verdict::STOP;
        let mut keys = RunKeys::new(&Policy::none(), &self.name, on, Keys::new(), || Clock::None);
        keys.begin_round(self.len());
        let never = pin!(pending::<()>());
        let mut bounds = Bounds {
            timer: &TimerFn::new(|_| pending::<()>()),
            deadline: None,
            end: pin!(pending()),
            signal: Signal::new(never).await,
        };
        self.execute(graph, scope, Again::DeadEnd, &mut keys, &mut bounds)
            .await;
    }

    pub(crate) fn scope(&self, runs: impl Fn(&Node<'a, T, E, F>) -> bool) -> Vec<bool> {
        self.nodes.iter().map(runs).collect()
    }

    /// Executes the subtasks in `scope` as their dependencies complete. None of them has completed yet. At the end that
    /// `bounds` sets, those under way are dropped. Returns those that were too late, if any were.
    pub(crate) async fn execute<On: OnError<E>, K: SharedKeys>(
        &mut self,
        graph: &Graph,
        scope: &[bool],
        again: Again,
        keys: &mut RunKeys<On, K>,
        bounds: &mut Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
    ) -> Option<BTreeSet<usize>> {
        let mut waiting = self.waiting(graph);
        let mut ready: VecDeque<usize> = (0..self.len())
            .filter(|index| waiting[*index] == 0 && scope[*index])
            .collect();
        let mut under_way = UnderWay::new(self.concurrency.get());
        let mut late = BTreeSet::new();
        loop {
            let mut next = None;
            while next.is_none() && under_way.has_room() {
                let Some(index) = ready.pop_front() else {
                    break;
                };
                // Subtasks that wait for nothing would never let the end be asked.
                if bounds.is_over() {
                    late.insert(index);
                    self.not_begun(index, RejectedBy::Deadline, keys);
                    continue;
                }
                let attempts = keys.attempt_of(self.execution(index));
                let entered = self.turned(index, attempts, Ok(None), keys, bounds);
                next = entered.map(|(attempts, awaited)| (index, attempts, awaited));
            }
            if next.is_none() {
                if under_way.is_empty() {
                    return (!late.is_empty()).then_some(late);
                }
                match under_way.next(bounds).await {
                    Next::Turn(index, (), (attempts, waited)) => {
                        let turned = self.turned(index, attempts, waited, keys, bounds);
                        next = turned.map(|(attempts, awaited)| (index, attempts, awaited));
                    }
                    Next::Ended(index, attempts, outcome) => {
                        if self.executed(index, attempts, outcome, again, keys) {
                            ready.extend(freed(&graph.dependents[index], &mut waiting, scope));
                        }
                    }
                    Next::Stopped(by, queued, begun) => {
                        for (index, ()) in &queued {
                            self.not_begun(*index, by, keys);
                        }
                        if by == RejectedBy::Deadline {
                            late.extend(queued.into_iter().map(|(index, ())| index));
                            for (index, attempts) in begun {
                                drop(attempts);
                                late.insert(index);
                                self.dropped(index, keys);
                            }
                            return Some(late);
                        }
                    }
                }
            }
            let Some((index, attempts, awaited)) = next else {
                continue;
            };
            let standing = match awaited {
                None => self.admitted(index, attempts, keys, bounds),
                awaited => Some((attempts, awaited)),
            };
            match standing {
                Some((attempts, None)) => {
                    let span = keys.span_of(self.execution(index));
                    let attempt = K::Span::within(span, || self.execute_one(index, graph));
                    under_way.begin(index, attempts, attempt);
                }
                Some((attempts, Some(awaited))) => {
                    let turn = turn(attempts, awaited, bounds.timer, bounds.deadline);
                    under_way.wait(index, (), turn);
                }
                None => {}
            }
        }
    }

    /// Ends what an execution waited for. Without a time, it takes a place with the limiter.
    fn turned<On: OnError<E>, K: SharedKeys>(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<K>,
        waited: Result<Option<Duration>, RejectedBy>,
        keys: &mut RunKeys<On, K>,
        bounds: &Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
    ) -> Standing<K> {
        let execution = self.execution(index);
        let came = match waited.transpose() {
            None => {
                let waits = keys.enter(execution, &mut attempts);
                waits.map(|waits| waits.then_some(Awaited::Turn))
            }
            Some(waited) => keys.waited(execution, &mut attempts, waited).map(|()| None),
        };
        self.unless_rejected(index, attempts, came, keys, bounds)
    }

    /// Begins an execution that has its turn.
    fn admitted<On: OnError<E>, K: SharedKeys>(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<K>,
        keys: &mut RunKeys<On, K>,
        bounds: &Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
    ) -> Standing<K> {
        let came = keys.begin(self.execution(index), &mut attempts);
        self.unless_rejected(index, attempts, came.map(|()| None), keys, bounds)
    }

    /// Has a rejected execution tried again after a pause, or else the subtask runs no more in this run.
    fn unless_rejected<On: OnError<E>, K: SharedKeys>(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<K>,
        came: Result<Option<Awaited>, RejectedBy>,
        keys: &mut RunKeys<On, K>,
        bounds: &Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
    ) -> Standing<K> {
        let by = match came {
            Ok(awaited) => return Some((attempts, awaited)),
            Err(by) => by,
        };
        let now = || bounds.timer.now();
        let clock = (bounds.deadline, now);
        match keys.pause_after(by, self.execution(index), &mut attempts, clock) {
            Ok(pause) => Some((attempts, Some(Awaited::Pause(now().checked_add(pause))))),
            Err(by) => {
                drop(attempts);
                self.not_begun(index, by, keys);
                None
            }
        }
    }

    /// Takes in the outcome of an execution, and says whether it is a success.
    fn executed<On: OnError<E>, K: SharedKeys>(
        &mut self,
        index: usize,
        attempts: AttemptsOf<K>,
        outcome: Result<T, E>,
        again: Again,
        keys: &mut RunKeys<On, K>,
    ) -> bool {
        let execution = self.last_execution(index);
        let outcome = match outcome {
            Ok(output) => {
                keys.succeeded(execution, attempts);
                Ok(output)
            }
            Err(error) => Err(keys.failed(execution, attempts, error)),
        };
        let completed = self.finish(keys.plan.name(), index, outcome, again);
        if let (false, Again::Failed) = (completed, again) {
            self.refuse_final(index, keys);
        }
        completed
    }

    /// For how many of those that it depends on each subtask waits.
    fn waiting(&self, graph: &Graph) -> Vec<usize> {
        let open = |after: &Vec<usize>| {
            let open = after.iter().filter(|index| !self.is_completed(**index));
            open.count()
        };
        graph.after.iter().map(open).collect()
    }

    /// The next execution of that subtask.
    fn execution(&self, index: usize) -> Execution<'_> {
        let node = &self.nodes[index];
        Execution {
            index,
            subtask: node.name(),
            attempt: node.executions.saturating_add(1),
        }
    }

    /// The last execution of that subtask.
    fn last_execution(&self, index: usize) -> Execution<'_> {
        let node = &self.nodes[index];
        Execution {
            index,
            subtask: node.name(),
            attempt: node.executions,
        }
    }

    fn is_completed(&self, index: usize) -> bool {
        self.nodes[index].output().is_some()
    }

    /// Whether all that the subtask depends on has completed.
    pub(crate) fn is_ready(&self, index: usize, graph: &Graph) -> bool {
        let mut after = graph.after[index].iter();
        after.all(|index| self.is_completed(*index))
    }

    fn execute_one(&mut self, index: usize, graph: &Graph) -> R {
        let outputs = graph.after[index]
            .iter()
            .filter_map(|index| self.nodes[*index].output().cloned())
            .collect();
        self.count(index);
        self.nodes[index].subtask.start(outputs)
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

    /// A subtask that was not let begin stays as it was, but runs no more in this run.
    fn not_begun<On, K: SharedKeys>(
        &mut self,
        index: usize,
        by: RejectedBy,
        keys: &mut RunKeys<On, K>,
    ) {
        keys.rejected(index, by);
        let ended = Ended::NotBegun;
        self.without_outcome(index, ended, &Rejected::new(by), by.reason(), keys);
    }

    /// A subtask was running when the deadline came.
    fn dropped<On, K: SharedKeys>(&mut self, index: usize, keys: &mut RunKeys<On, K>) {
        let error = "dropped before it ended";
        self.without_outcome(index, Ended::GaveUp, &error, Reason::Deadline, keys);
    }

    /// Tells of a subtask that ends for this run without an outcome. One that had failed before keeps its error.
    fn without_outcome<On, K: SharedKeys>(
        &mut self,
        index: usize,
        ended: Ended,
        error: &dyn fmt::Display,
        reason: Reason,
        keys: &mut RunKeys<On, K>,
    ) {
        if self.nodes[index].is_failed() {
            self.make_dead_end(index, reason, keys);
            return;
        }
        let execution = self.last_execution(index);
        let Execution {
            subtask, attempt, ..
        } = execution;
        let (plan, given) = (keys.plan.name(), Some(reason));
        report_subtask(ended, plan, subtask, attempt, Some(error), given);
        keys.gave_up(execution, error, reason);
    }

    pub(crate) fn make_dead_end<On, K: SharedKeys>(
        &mut self,
        index: usize,
        reason: Reason,
        keys: &mut RunKeys<On, K>,
    ) {
        let State::Failed { dead_end, .. } = &mut self.nodes[index].state else {
            return;
        };
        *dead_end = true;
        self.ended(keys.plan.name(), index, Ended::DeadEnd, Some(reason));
        if let Some(failure) = self.nodes[index].failure() {
            keys.gave_up(self.last_execution(index), failure, reason);
        }
    }

    /// Tells of what became of a subtask.
    fn ended(&mut self, plan: &str, index: usize, ended: Ended, reason: Option<Reason>) {
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
