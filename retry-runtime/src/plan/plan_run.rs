//! A run of a plan: its rounds and its subtasks, with its keys applied.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use core::fmt;
use core::mem;
use core::time::Duration;

use retry_classify::macro_support::shown;
use retry_classify::{Kind, Verdict};

use crate::call::failure::{Failure, is_paid};
use crate::call::state::Call;
use crate::chain::into_chain::IntoChain;
use crate::chain::on_error::{Classifies, Described, OnError};
use crate::chain::span::Span;
use crate::observe::warnings::warn_about_verdict;
use crate::observe::{AttemptEnd, EventData, Reason, reborrow};
use crate::plan::Plan;
use crate::plan::event::Ended;
use crate::plan::graph::Graph;
use crate::plan::node::{State, SubtaskFailure};
use crate::plan::round_budget::RoundBudget;
use crate::plan::run::Again;
use crate::policy::schedule::limit;
use crate::work::in_flight::AttemptsOf;
use crate::work::job::{Job, Part};

/// A run of a plan. The plan is a call, whose attempts are its rounds, and each subtask is a call of its own, whose
/// attempts are its executions.
pub(crate) struct PlanRun<'r, 'a, T, E, F: ?Sized, Q: IntoChain> {
    pub(crate) plan: &'r mut Plan<'a, T, E, F>,
    pub(crate) graph: Graph,
    /// True for each subtask that a round executes, by index in the plan.
    pub(crate) scope: Vec<bool>,
    /// The subtasks of the scope that wait for no other and have not started.
    pub(crate) ready: VecDeque<usize>,
    /// The subtasks that the deadline ended.
    pub(crate) late: BTreeSet<usize>,
    /// The status of a subtask that fails again after an earlier failure.
    pub(crate) again: Again,
    /// Has the plan's name, unless a key sets another.
    pub(crate) job: Job<'r, Q>,
    on: Q::On,
    pub(crate) round: Call,
    /// Every subtask of this round, by index in the plan.
    pub(crate) runs: Vec<SubtaskRun<'r, Q>>,
}

/// The state of a subtask in this run.
pub(crate) struct SubtaskRun<'r, Q: IntoChain> {
    /// Has the names of the plan and the subtask.
    pub(crate) part: Part,
    pub(crate) attempts: AttemptsOf<'r, Q>,
    /// The verdict on the last failure.
    verdict: Option<Verdict>,
    /// True if the last failure is not retryable and was not reported yet.
    is_unreported: bool,
    /// The reason that the subtask does not run again, if it only failed temporarily or did not fail.
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
        again: Again,
        mut job: Job<'r, Q>,
        on: Q::On,
    ) -> Self {
        for node in &mut plan.nodes {
            job.progress.done(usize::from(node.is_completed()));
            job.progress.failed(usize::from(node.is_dead_end()));
            if Q::On::IS_SHOWN {
                node.show(|error| shown_by(&on, error));
            }
        }
        Self {
            plan,
            graph,
            scope,
            ready: VecDeque::new(),
            late: BTreeSet::new(),
            again,
            job,
            on,
            round: Call::new(),
            runs: Vec::new(),
        }
    }

    /// Starts a round.
    pub(crate) fn begin_round(&mut self) {
        let round = self.round;
        self.job.report(|site, observe| {
            if let Some(observe) = observe {
                round.started(site.name(), observe);
            }
        });
        while let Some(node) = self.plan.nodes.get(self.runs.len()) {
            let name = format!("{}.{}", self.job.rules.name(), node.name());
            self.runs.push(SubtaskRun {
                part: Part {
                    name: name.into(),
                    stopwatch: None,
                },
                attempts: self.job.attempts(),
                verdict: None,
                is_unreported: false,
                refused: None,
                dead_end: None,
                span: None,
            });
        }
        self.progressed();
    }

    /// Reports the plan's progress to the observer.
    fn progressed(&mut self) {
        self.job.progressed(self.round.attempt(), self.runs.len());
    }

    /// Decides on a failed round. Returns the pause before the next round, which retries the subtasks that are paid
    /// for, or the reason that there is none.
    pub(crate) fn round_failed(
        &mut self,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
    ) -> Result<Duration, Reason> {
        let kinds = retried
            .iter()
            .filter_map(|(index, verdict)| Some((*index, verdict.kind()?)));
        let (payers, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| self.is_paid(*kind));
        let budget = self.job.budget();
        let budget = budget.filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget {
            budget,
            payers: payers.into(),
            is_free: !free.is_empty(),
        });
        let (deadline, now) = (self.job.deadline, self.job.now_of_deadline());
        let call = &mut self.round;
        let pause = self.job.report(|site, mut observe| {
            let failure = Failure::new(site, verdict, &error).deadline(deadline, || now);
            let failure = failure.paid_by(budget.as_ref().map(|budget| budget as _));
            let failure = failure.cancelled(is_cancelled);
            call.failed_with(failure.observed_by(reborrow(&mut observe)))
        })?;
        if let Some(RoundBudget { payers, .. }) = budget {
            self.pay(retried, &payers.into_inner());
        }
        Ok(pause)
    }

    /// Keeps the payments for the subtasks that are retried. The others become dead ends.
    fn pay(&mut self, retried: &[(usize, Verdict)], paid: &[(usize, Kind)]) {
        let mut paid = paid.iter().peekable();
        for &(index, verdict) in retried {
            let kind = verdict.kind().filter(|kind| self.is_paid(*kind));
            let run = &mut self.runs[index];
            // Its first attempt was in an earlier run.
            if run.verdict.is_none() {
                run.attempts.set_call(Call::after(1));
            }
            run.attempts.set_followed(kind);
            if paid.next_if(|(paid, _)| *paid == index).is_some() {
                let call = run.attempts.call();
                run.attempts.decided(call, true);
            } else if kind.is_some() {
                run.refused = Some(Reason::Budget);
                self.make_dead_end(index, Reason::Budget);
            }
        }
    }

    fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.job.handles_throttling())
    }

    /// Ends the plan with this error before another round.
    pub(crate) fn round_stopped(&mut self, error: &str, reason: Reason) {
        let call = self.round;
        self.job.report(|site, mut observe| {
            let failure = Failure::new(site, Verdict::TRANSIENT, &error);
            call.gave_up(failure.observed_by(reborrow(&mut observe)), reason);
        });
    }

    /// The span of the next execution, within the subtask's, which is within the plan's.
    pub(crate) fn span_of(&mut self, index: usize) -> Span {
        let is_on = self.job.rules.settings.is_spanned;
        let SubtaskRun { span, part, .. } = &mut self.runs[index];
        let span = span.get_or_insert_with(|| Span::of_call(is_on, || &part.name));
        let _entered = span.enter();
        Span::of_attempt(is_on, || {
            self.plan.nodes[index].executions.saturating_add(1)
        })
    }

    /// The attempt for an execution that is about to start.
    pub(crate) fn attempt_of(&mut self, index: usize) -> AttemptsOf<'r, Q> {
        let fresh = self.job.attempts();
        let mut attempts = mem::replace(&mut self.runs[index].attempts, fresh);
        let executions = self.plan.nodes[index].executions;
        let call = attempts.call().at(executions.saturating_add(1));
        attempts.set_call(call);
        attempts
    }

    pub(crate) fn succeeded(&mut self, index: usize, mut attempts: AttemptsOf<'r, Q>) {
        self.job.progress.done(1);
        let run = &mut self.runs[index];
        (run.verdict, run.span) = (None, None);
        let Part { name, stopwatch } = &mut run.part;
        attempts.answered(self.job.rules.parts_of(name, stopwatch).1);
        attempts.credit_success();
        let executions = self.plan.nodes[index].executions;
        let data = EventData::Succeeded {
            attempts: executions,
            corrections: 0,
            max: limit(self.job.rules.policy().retries_allowed()),
        };
        self.job.observe(&mut run.part, executions, data);
        self.progressed();
    }

    /// Returns the failure to store.
    pub(crate) fn failed(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<'r, Q>,
        error: E,
    ) -> SubtaskFailure<E> {
        let verdict = self.on.verdict(&error);
        let text = shown_by(&self.on, &error);
        let failure = SubtaskFailure {
            error: Some(error),
            text,
        };
        let run = &mut self.runs[index];
        let Part { name, stopwatch } = &mut run.part;
        let (site, reporter) = self.job.rules.parts_of(name, stopwatch);
        if verdict.warns() {
            warn_about_verdict(site.name(), verdict, &failure);
        }
        attempts.failed_with_others(Failure::new(&site, verdict, &failure), reporter);
        (run.attempts, run.verdict) = (attempts, Some(verdict));
        // Otherwise it is reported with its consequence: a dead end.
        run.is_unreported = verdict.kind().is_none();
        if let Some(kind) = verdict.kind() {
            let error = &failure;
            let data = EventData::AttemptFailed { error, kind };
            let attempt = self.plan.nodes[index].executions;
            self.job.observe(&mut run.part, attempt, data);
        }
        failure
    }

    /// Reports to the observer that a subtask does not run again: because of `cause`, or else of its failure.
    pub(crate) fn gave_up(
        &mut self,
        index: usize,
        cause: Option<&dyn fmt::Display>,
        reason: Reason,
    ) {
        let (node, run) = (&self.plan.nodes[index], &mut self.runs[index]);
        run.span = None;
        self.job.progress.failed(1);
        let failure = node.failure().map(|failure| failure as _);
        if let Some(error) = cause.or(failure) {
            let is_unreported = mem::take(&mut run.is_unreported);
            let data = EventData::GaveUp {
                attempts: node.executions,
                corrections: 0,
                max: limit(self.job.rules.policy().retries_allowed()),
                error,
                ended: is_unreported.then_some(AttemptEnd::Stop),
                reason,
            };
            self.job.observe(&mut run.part, node.executions, data);
        }
        self.progressed();
    }

    /// The verdict on the last failure of a subtask. For one from before this run, the error is classified now.
    pub(crate) fn verdict(&mut self, index: usize) -> Verdict {
        if let Some(verdict) = self.runs[index].verdict {
            return verdict;
        }
        // A loaded failure has no error to classify, and it was loaded to be tried again.
        let error = self.plan.nodes[index].error();
        error.map_or(Verdict::TRANSIENT, |error| self.on.verdict(error))
    }

    /// Prevents further rounds for that subtask's failure. If nothing else is left to retry, the plan gives up for that
    /// reason, too.
    pub(crate) fn refuse(&mut self, index: usize, reason: Reason) {
        self.runs[index].dead_end = Some(reason);
        self.make_dead_end(index, reason);
    }

    pub(crate) fn make_dead_end(&mut self, index: usize, reason: Reason) {
        let State::Failed { dead_end, .. } = &mut self.plan.nodes[index].state else {
            return;
        };
        *dead_end = true;
        let plan = self.job.rules.name();
        self.plan.ended(plan, index, Ended::DeadEnd, Some(reason));
        self.gave_up(index, None, reason);
    }

    /// Returns true if the next round executes that subtask, if it can start.
    pub(crate) fn runs_again(&self, index: usize) -> bool {
        let (node, run) = (&self.plan.nodes[index], self.runs.get(index));
        let is_refused = run.is_some_and(|run| run.refused.is_some());
        node.is_open() || node.is_pending() && !is_refused
    }

    /// The reason that nothing is left to run: that of the first refused subtask which another run could complete, or
    /// else of the first dead end.
    pub(crate) fn refusal(&self) -> Option<Reason> {
        let refused = self.runs.iter().find_map(|run| run.refused);
        refused.or_else(|| self.runs.iter().find_map(|run| run.dead_end))
    }
}

/// The text of an error from the key `show`.
fn shown_by<E, On: OnError<E>>(on: &On, error: &E) -> Option<String> {
    On::IS_SHOWN.then(|| shown(&Described { on, error }).to_string())
}
