use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::fmt;
use core::future::{Future, pending};
use core::pin::pin;

use crate::chain::context::Context;
use crate::chain::into_chain::IntoChain;
use crate::chain::on_error::OnError;
use crate::chain::policy_call::PolicyCall;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::in_flight::{Bounds, InFlight, Next, Shared, turn};
use crate::observe::reason::Reason;
use crate::plan::event::{Ended, report_retry, report_subtask, report_summary};
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::plan_run::{AttemptsOf, PlanRun};
use crate::plan::summary::Names;
use crate::plan::{Plan, PlanError, Summary};
use crate::policy::Policy;
use crate::time::signal::Signal;
use crate::time::timer::{Timer, TimerFn};

/// An execution of the subtask at an index. True if it has to wait before it may begin. `None` if it was rejected.
type Standing<'r, Q> = Option<(usize, AttemptsOf<'r, Q>, bool)>;

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
        let chain = PolicyCall::of(&Policy::none()).on(|_: &E| Verdict::STOP);
        let chain = chain.timer(TimerFn::new(|_| pending::<()>()));
        self.execute_under(graph, scope, chain).await;
    }

    async fn execute_under<Q>(&mut self, graph: Graph, scope: Vec<bool>, chain: Q)
    where
        Q: IntoChain<On: OnError<E>, Timer: Timer>,
    {
        let chain = chain.into_chain();
        let name = Arc::clone(&self.name);
        let rules = Context::named(chain.policy, chain.settings, &name, chain.observer);
        let timer = chain.timer;
        let shared = Shared::new(&chain.protections, &timer, Timer::now);
        let mut run = PlanRun::<_, _, _, Q>::new(self, rules, shared, chain.on);
        (run.graph, run.scope, run.again) = (graph, scope, Again::DeadEnd);
        run.begin_round();
        let never = pin!(pending::<()>());
        let mut bounds = Bounds {
            timer: &timer,
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

impl<'r, T, E, F, R, Q> PlanRun<'r, '_, T, E, F, Q>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
    Q: IntoChain<On: OnError<E>, Timer: Timer>,
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
        let mut in_flight = InFlight::new(self.plan.concurrency.get());
        let mut late = BTreeSet::new();
        loop {
            let mut next = None;
            while next.is_none() && in_flight.has_room() {
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
                next = self.proceed(index, attempts, bounds);
            }
            if next.is_none() {
                if in_flight.is_empty() {
                    return (!late.is_empty()).then_some(late);
                }
                match in_flight.next(bounds).await {
                    Next::Turn(index, (), attempts) => {
                        next = self.proceed(index, attempts, bounds);
                    }
                    Next::Ended(index, attempts, outcome) => {
                        if self.executed(index, attempts, outcome) {
                            let dependents = &self.graph.dependents[index];
                            ready.extend(freed(dependents, &mut waiting, &self.scope));
                        }
                    }
                    Next::Stopped(by, queued, begun) => {
                        late.extend(self.stopped(by, queued, begun));
                        if by == RejectedBy::Deadline {
                            return Some(late);
                        }
                    }
                }
            }
            match next {
                Some((index, attempts, true)) => {
                    in_flight.wait(index, (), turn(attempts, bounds.deadline));
                }
                Some((index, attempts, false)) => {
                    let span = self.span_of(index);
                    let attempt = span.within(|| self.execute_one(index));
                    in_flight.begin(index, attempts, attempt);
                }
                None => {}
            }
        }
    }

    /// Nothing begins any more. At the deadline, what runs is dropped, too. Returns the subtasks that are too late.
    fn stopped(
        &mut self,
        by: RejectedBy,
        queued: Vec<(usize, ())>,
        begun: Vec<(usize, AttemptsOf<'r, Q>)>,
    ) -> Vec<usize> {
        for (index, ()) in &queued {
            self.not_begun(*index, by);
        }
        let queued = queued.into_iter().map(|(index, ())| index);
        let mut late: Vec<_> = queued.filter(|_| by == RejectedBy::Deadline).collect();
        for (index, attempts) in begun {
            drop(attempts);
            late.push(index);
            self.dropped(index);
        }
        late
    }

    /// Takes an execution as far as it gets without waiting. If it is rejected, it is tried again after a pause, or else
    /// the subtask runs no more in this run.
    fn proceed(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<'r, Q>,
        bounds: &mut Bounds<'_, impl Timer, impl Sized, impl Future>,
    ) -> Standing<'r, Q> {
        while attempts.waits(self.of(index)) {
            if attempts.rejection().is_none() {
                return Some((index, attempts, true));
            }
            let is_cancelled = bounds.signal.is_cancelled();
            self.decide_on_rejection(index, &mut attempts, is_cancelled);
        }
        let Some(stop) = attempts.stop() else {
            return Some((index, attempts, false));
        };
        drop(attempts);
        self.not_begun(index, stop.rejected().by());
        None
    }

    /// Takes in the outcome of an execution, and says whether it is a success.
    fn executed(
        &mut self,
        index: usize,
        attempts: AttemptsOf<'r, Q>,
        outcome: Result<T, E>,
    ) -> bool {
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
        self.without_outcome(index, Ended::NotBegun, &Rejected::new(by), by.into());
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
