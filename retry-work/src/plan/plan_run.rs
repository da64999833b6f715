//! A run of a plan: its rounds and its subtasks, with its keys applied.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use std::{fmt, mem};

use retry_runtime::chain::{Classifies, IntoChain, OnError};
use retry_runtime::macro_support::{Described, Job, Part, Span, limit, shown, warn_about_verdict};
use retry_runtime::own_loop::{Call, Failure};
use retry_runtime::{AttemptEnd, Event, EventData, Kind, Reason, Verdict};

use crate::in_flight::AttemptsOf;
use crate::plan::Plan;
use crate::plan::event::{Exit, RepeatFailure};
use crate::plan::graph::Graph;
use crate::plan::node::{State, SubtaskFailure};
use crate::plan::round_budget::RoundBudget;
use crate::progress::Progress;

/// A run of a plan. The plan is a call whose attempts are the rounds. Each subtask is a separate call whose attempts
/// are its executions.
pub(crate) struct PlanRun<'r, 'a, T, E, F: ?Sized, Q: IntoChain> {
    pub(crate) plan: &'r mut Plan<'a, T, E, F>,
    pub(crate) graph: Graph,
    /// True for each subtask that a round executes, by index in the plan.
    pub(crate) scope: Vec<bool>,
    /// The subtasks of the scope that can start: all of their dependencies have completed.
    pub(crate) ready: VecDeque<usize>,
    /// The subtasks that the deadline ended.
    pub(crate) late: BTreeSet<usize>,
    /// The status of a subtask that fails again after an earlier failure.
    pub(crate) repeat_failure: RepeatFailure,
    /// Contains the plan's name, unless a key sets another name.
    pub(crate) job: Job<'r, Q>,
    on: Q::On,
    progress: Progress,
    pub(crate) round: Call,
    /// The state of each subtask in this run, by index in the plan.
    pub(crate) runs: Vec<SubtaskRun<'r, Q>>,
}

/// The state of a subtask in this run.
pub(crate) struct SubtaskRun<'r, Q: IntoChain> {
    /// Contains the names of the plan and the subtask.
    pub(crate) part: Part,
    pub(crate) attempts: AttemptsOf<'r, Q>,
    /// The verdict on the last failure.
    verdict: Option<Verdict>,
    /// True if the last failure is not retryable and was not reported yet.
    is_unreported: bool,
    /// The reason that the subtask does not run again, if another run could still complete it.
    pub(crate) refused: Option<Reason>,
    /// The reason that the failure gets no further round.
    dead_end: Option<Reason>,
    /// The span from the first execution to the subtask's end.
    span: Option<Span>,
}

impl<'r, 'a, T, E, F, Q> PlanRun<'r, 'a, T, E, F, Q>
where
    E: fmt::Display,
    F: ?Sized,
    Q: IntoChain<On: OnError<E>>,
{
    /// Creates a run that has not started, with the earlier results of subtasks.
    pub(crate) fn new(
        plan: &'r mut Plan<'a, T, E, F>,
        (graph, scope): (Graph, Vec<bool>),
        repeat_failure: RepeatFailure,
        job: Job<'r, Q>,
        on: Q::On,
    ) -> Self {
        let mut progress = Progress::default();
        for node in &mut plan.nodes {
            progress.add_done(usize::from(node.is_completed()));
            progress.add_failed(usize::from(node.is_dead_end()));
            if Q::On::IS_SHOWN {
                node.show(|error| show_error(&on, error));
            }
        }
        Self {
            plan,
            graph,
            scope,
            ready: VecDeque::new(),
            late: BTreeSet::new(),
            repeat_failure,
            job,
            on,
            progress,
            round: Call::new(),
            runs: Vec::new(),
        }
    }

    /// Starts a round.
    pub(crate) fn begin_round(&mut self) {
        self.job.observe(self.round.attempt(), EventData::Started);
        while let Some(node) = self.plan.nodes.get(self.runs.len()) {
            let name = format!("{}.{}", self.job.context.name(), node.name());
            self.runs.push(SubtaskRun {
                part: Part::new(name),
                attempts: self.job.new_driver(),
                verdict: None,
                is_unreported: false,
                refused: None,
                dead_end: None,
                span: None,
            });
        }
        self.report_progress();
    }

    /// Reports the plan's progress to the observer.
    fn report_progress(&mut self) {
        let (round, all) = (self.round.attempt(), self.runs.len());
        self.progress.report(&mut self.job, round, all);
    }

    /// Decides on a failed round. Returns the pause before the next round, which retries the subtasks that are paid
    /// for, or the reason that no round follows.
    pub(crate) fn decide_round(
        &mut self,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
    ) -> Result<Duration, Reason> {
        let kinds = retried
            .iter()
            .filter_map(|(index, verdict)| Some((*index, verdict.kind()?)));
        let (payers, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| self.job.is_paid(*kind));
        let budget = self.job.budget();
        let budget = budget.filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget {
            budget,
            payers: payers.into(),
            is_free: !free.is_empty(),
        });
        let (deadline, now) = (self.job.deadline(), self.job.now());
        let call = &mut self.round;
        let pause = self.job.with_observer(|site, observe| {
            let failure = Failure::new(site, verdict, &error).deadline(deadline, || now);
            let mut failure = with_observer(failure.cancelled(is_cancelled), observe);
            if let Some(budget) = &budget {
                failure = failure.budget(budget);
            }
            call.failed_with(failure)
        })?;
        if let Some(RoundBudget { payers, .. }) = budget {
            self.keep_payments(retried, &payers.into_inner());
        }
        Ok(pause)
    }

    /// Keeps the payments for the subtasks that are retried. The other subtasks become dead ends.
    fn keep_payments(&mut self, retried: &[(usize, Verdict)], paid: &[(usize, Kind)]) {
        let mut paid = paid.iter().peekable();
        for &(index, verdict) in retried {
            let kind = verdict.kind().filter(|kind| self.job.is_paid(*kind));
            let run = &mut self.runs[index];
            // The subtask's first attempt was in an earlier run.
            if run.verdict.is_none() {
                run.attempts.set_call(Call::after(1));
            }
            run.attempts.set_last_retry_kind(kind);
            if paid.next_if(|(paid, _)| *paid == index).is_some() {
                let call = run.attempts.call();
                run.attempts.set_decision(call, true);
            } else if kind.is_some() {
                run.refused = Some(Reason::Budget);
                self.make_dead_end(index, Reason::Budget);
            }
        }
    }

    /// Ends the plan with this error before another round.
    pub(crate) fn report_stop(&mut self, error: &str, reason: Reason) {
        let call = self.round;
        self.job.with_observer(|site, observe| {
            let failure = Failure::new(site, Verdict::TRANSIENT, &error);
            call.gave_up(with_observer(failure, observe), reason);
        });
    }

    /// The span of the next execution, inside the subtask's span, which is inside the plan's.
    pub(crate) fn span_of(&mut self, index: usize) -> Span {
        let is_on = self.job.context.is_spanned();
        let SubtaskRun { span, part, .. } = &mut self.runs[index];
        let span = span.get_or_insert_with(|| Span::of_call(is_on, || part.name()));
        let _entered = span.enter();
        Span::of_attempt(is_on, || {
            self.plan.nodes[index].executions.saturating_add(1)
        })
    }

    /// The attempt for an execution that is about to start.
    pub(crate) fn take_attempts(&mut self, index: usize) -> AttemptsOf<'r, Q> {
        let fresh = self.job.new_driver();
        let mut attempts = mem::replace(&mut self.runs[index].attempts, fresh);
        let executions = self.plan.nodes[index].executions;
        let call = attempts.call().for_attempt(executions.saturating_add(1));
        attempts.set_call(call);
        attempts
    }

    pub(crate) fn record_success(&mut self, index: usize, mut attempts: AttemptsOf<'r, Q>) {
        self.progress.add_done(1);
        let run = &mut self.runs[index];
        (run.verdict, run.span) = (None, None);
        attempts.answered(self.job.parts_of(&mut run.part).1);
        attempts.credit_success();
        let executions = self.plan.nodes[index].executions;
        let data = EventData::Succeeded {
            attempts: executions,
            corrections: 0,
            max: limit(self.job.context.policy().retries_allowed()),
        };
        self.job.observe_part(&mut run.part, executions, data);
        self.report_progress();
    }

    /// Returns the failure to store.
    pub(crate) fn record_failure(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<'r, Q>,
        error: E,
    ) -> SubtaskFailure<E> {
        let verdict = self.on.verdict(&error);
        let text = show_error(&self.on, &error);
        let failure = SubtaskFailure {
            error: Some(error),
            text,
        };
        let run = &mut self.runs[index];
        if verdict.warns() {
            warn_about_verdict(run.part.name(), verdict, &failure);
        }
        let (site, reporter) = self.job.parts_of(&mut run.part);
        attempts.failed_with_others(Failure::new(&site, verdict, &failure), reporter);
        (run.attempts, run.verdict) = (attempts, Some(verdict));
        // A failure that is not retryable is reported later, with its consequence: a dead end.
        run.is_unreported = verdict.kind().is_none();
        if let Some(kind) = verdict.kind() {
            let error = &failure;
            let data = EventData::AttemptFailed { error, kind };
            let attempt = self.plan.nodes[index].executions;
            self.job.observe_part(&mut run.part, attempt, data);
        }
        failure
    }

    /// Reports to the observer that a subtask does not run again: because of `cause`, or else because of its failure.
    pub(crate) fn report_gave_up(
        &mut self,
        index: usize,
        cause: Option<&dyn fmt::Display>,
        reason: Reason,
    ) {
        let (node, run) = (&self.plan.nodes[index], &mut self.runs[index]);
        run.span = None;
        self.progress.add_failed(1);
        let failure = node.failure().map(|failure| failure as _);
        if let Some(error) = cause.or(failure) {
            let is_unreported = mem::take(&mut run.is_unreported);
            let data = EventData::GaveUp {
                attempts: node.executions,
                corrections: 0,
                max: limit(self.job.context.policy().retries_allowed()),
                error,
                ended: is_unreported.then_some(AttemptEnd::Stop),
                reason,
            };
            self.job.observe_part(&mut run.part, node.executions, data);
        }
        self.report_progress();
    }

    /// The verdict on a subtask's last failure. If the subtask failed before this run, its error is classified now.
    pub(crate) fn verdict(&mut self, index: usize) -> Verdict {
        if let Some(verdict) = self.runs[index].verdict {
            return verdict;
        }
        // A loaded failure has no error to classify, and it was loaded to be tried again.
        let error = self.plan.nodes[index].error();
        error.map_or(Verdict::TRANSIENT, |error| self.on.verdict(error))
    }

    /// Prevents further rounds for that subtask's failure. If nothing else is left to retry, the plan gives up for the
    /// same reason.
    pub(crate) fn refuse(&mut self, index: usize, reason: Reason) {
        self.runs[index].dead_end = Some(reason);
        self.make_dead_end(index, reason);
    }

    pub(crate) fn make_dead_end(&mut self, index: usize, reason: Reason) {
        let State::Failed { dead_end, .. } = &mut self.plan.nodes[index].state else {
            return;
        };
        *dead_end = true;
        let plan = self.job.context.name();
        self.plan.report(plan, index, Exit::DeadEnd, Some(reason));
        self.report_gave_up(index, None, reason);
    }

    /// Returns true if the next round may execute that subtask.
    pub(crate) fn runs_again(&self, index: usize) -> bool {
        let (node, run) = (&self.plan.nodes[index], self.runs.get(index));
        let is_refused = run.is_some_and(|run| run.refused.is_some());
        node.is_open() || node.is_pending() && !is_refused
    }

    /// The reason that nothing is left to run: the first refused subtask's, or else the first dead end's.
    pub(crate) fn refusal(&self) -> Option<Reason> {
        let refused = self.runs.iter().find_map(|run| run.refused);
        refused.or_else(|| self.runs.iter().find_map(|run| run.dead_end))
    }
}

/// The text of an error, written by the key `show`.
fn show_error<E, On: OnError<E>>(on: &On, error: &E) -> Option<String> {
    On::IS_SHOWN.then(|| shown(&Described { on, error }).to_string())
}

/// The failure, with this observer attached.
fn with_observer<'a, 'o: 'a>(
    failure: Failure<'a>,
    observe: Option<&'a mut (dyn FnMut(&Event<'_>) + 'o)>,
) -> Failure<'a> {
    match observe {
        Some(observe) => failure.observe(observe),
        None => failure,
    }
}
