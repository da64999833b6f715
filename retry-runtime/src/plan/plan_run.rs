//! A run of a plan: what its keys make of its rounds and its subtasks.

use alloc::string::{String, ToString};
use core::fmt;
use core::mem;

use crate::call::decide::Decision;
use crate::call::driver::Driver;
use crate::call::failure::{Ending, Failure, is_paid};
use crate::call::protections::Protects;
use crate::call::reporter::{Reporter, Times};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::context::{Context, ObservedBy, Observes, named};
use crate::chain::into_chain::IntoChain;
use crate::chain::on_error::{Classifies, Described, OnError};
use crate::chain::span::Span;
use crate::classify::kind::Kind;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::error_text::shown::shown;
use crate::in_flight::Shared;
use crate::observe::event::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::ignored_timeout;
use crate::observe::progress::Progress;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::observe::stopwatch::Stopwatch;
use crate::observe::verdict_warning;
use crate::plan::event::{CallOfSubtask, Ended};
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State, SubtaskFailure};
use crate::plan::round_budget::RoundBudget;
use crate::plan::run::Again;
use crate::plan::{Plan, PlanError};
use crate::policy::schedule::limit;
use crate::policy::values::Values;
use crate::time::moment::Moment;

/// A run of a plan. The plan is a call, whose attempts its rounds are, and its subtasks are calls
/// of their own: each execution is an attempt.
pub(crate) struct PlanRun<'r, 'a, T, E, F: ?Sized, Q: IntoChain> {
    pub(crate) plan: &'r mut Plan<'a, T, E, F>,
    pub(crate) graph: Graph,
    /// Whether a round executes each subtask, by index in the plan.
    pub(crate) scope: Vec<bool>,
    /// What a subtask is that failed before and fails again.
    pub(crate) again: Again,
    /// What its rounds go by. Named after the plan unless a key names it.
    pub(crate) rules: Context<'r, Q::Observer>,
    pub(crate) shared: Shared<'r, Q::Protections, Q::Timer>,
    on: Q::On,
    pub(crate) round: Call,
    /// Every subtask of this round, by index in the plan.
    runs: Vec<SubtaskRun<'r, Q>>,
    progress: Progress,
    /// The end of the run.
    pub(crate) deadline: Option<Moment>,
}

/// Reports under a name of plan and subtask, which is computed only then.
pub(crate) struct OfSubtask<'a, O> {
    plan: ObservedBy<'a, O>,
    subtask: &'a str,
    stopwatch: &'a mut Option<Box<Stopwatch>>,
}

/// What this run knows of a subtask.
struct SubtaskRun<'r, Q: IntoChain> {
    attempts: AttemptsOf<'r, Q>,
    /// The verdict on the last failure.
    verdict: Option<Verdict>,
    /// How the last execution ended, if it has not been reported to the observer yet.
    unreported: Option<AttemptEnd>,
    /// Why the subtask runs no more, where it failed only in passing or not at all.
    refused: Option<Reason>,
    /// Why the failure got no further round.
    dead_end: Option<Reason>,
    stopwatch: Option<Box<Stopwatch>>,
    /// The span from the first execution to the subtask's end.
    span: Option<Span>,
}

pub(crate) type AttemptsOf<'r, Q> =
    Driver<&'r <Q as IntoChain>::Protections, &'r <Q as IntoChain>::Timer>;

impl<O: Observes> OfSubtask<'_, O> {
    fn name(&self) -> String {
        let (plan, subtask) = (named(self.plan.names), self.subtask);
        CallOfSubtask { plan, subtask }.to_string()
    }

    /// Reports an execution to the observer, if there is one. The plan's lines are in the log.
    fn observe(mut self, now: &dyn Fn() -> Moment, attempt: u32, data: EventData<'_>) {
        if self.is_observed() {
            self.report(&mut Times::new(now, &mut None), &mut |name, observe| {
                if let Some(observe) = observe {
                    observe(&Event::new(name, attempt, data));
                }
            });
        }
    }
}

impl<O: Observes> Reporter for OfSubtask<'_, O> {
    fn is_observed(&self) -> bool {
        self.plan.is_observed()
    }

    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        self.report(times, &mut |_, observe| with(observe));
    }

    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        let name = self.name();
        let mut subtask = ObservedBy {
            names: (Some(&name), || ""),
            observer: &mut *self.plan.observer,
            stopwatch: &mut *self.stopwatch,
        };
        subtask.report(times, with);
    }
}

impl<'r, Q: IntoChain> SubtaskRun<'r, Q> {
    fn new(attempts: AttemptsOf<'r, Q>) -> Self {
        Self {
            attempts,
            verdict: None,
            unreported: None,
            refused: None,
            dead_end: None,
            stopwatch: None,
            span: None,
        }
    }
}

impl<'r, 'a, T, E, F: ?Sized, Q: IntoChain> PlanRun<'r, 'a, T, E, F, Q> {
    /// A run that has not begun.
    pub(crate) fn new(
        plan: &'r mut Plan<'a, T, E, F>,
        rules: Context<'r, Q::Observer>,
        shared: Shared<'r, Q::Protections, Q::Timer>,
        on: Q::On,
    ) -> Self {
        let limit = rules.policy().time_limit();
        let deadline = limit.and_then(|limit| shared.now().checked_add(limit));
        Self {
            plan,
            graph: Graph::default(),
            scope: Vec::new(),
            again: Again::Failed,
            rules,
            shared,
            on,
            round: Call::new(),
            runs: Vec::new(),
            progress: Progress::default(),
            deadline,
        }
    }

    /// An attempt of a subtask that has had none.
    fn attempts(&self) -> AttemptsOf<'r, Q> {
        let mut attempts = self.shared.attempts();
        attempts.set_end(self.deadline);
        attempts.retry_rejections();
        attempts.set_max(self.rules.policy().retries_allowed());
        attempts
    }
}

impl<'r, T, E, F, Q> PlanRun<'r, '_, T, E, F, Q>
where
    E: fmt::Display,
    F: ?Sized,
    Q: IntoChain<On: OnError<E>>,
{
    /// Prepares to run what is pending. Takes in what became of subtasks before the run.
    pub(crate) fn prepare(&mut self) -> Result<(), PlanError> {
        self.graph = self.plan.runnable()?;
        self.scope = self.plan.scope(Node::is_pending);
        for node in &mut self.plan.nodes {
            self.progress.done(usize::from(node.is_completed()));
            self.progress.failed(usize::from(node.is_dead_end()));
            if Q::On::IS_SHOWN {
                node.show(|error| shown_by(&self.on, error));
            }
        }
        if self.rules.policy().attempt_limit().is_some() {
            ignored_timeout::tell(self.rules.name());
        }
        Ok(())
    }

    /// A round begins.
    pub(crate) fn begin_round(&mut self) {
        let (round, shared) = (self.round, &self.shared);
        self.rules.report_once(&|| shared.now(), |site, observe| {
            if let Some(observe) = observe {
                round.started(site.name(), observe);
            }
        });
        while self.runs.len() < self.plan.len() {
            self.runs.push(SubtaskRun::new(self.attempts()));
        }
        self.progressed();
    }

    /// Reports to the observer how far the plan is.
    fn progressed(&mut self) {
        let (progress, round) = (&mut self.progress, self.round.attempt());
        let (subtasks, shared) = (self.runs.len(), &self.shared);
        self.rules.report_once(&|| shared.now(), |site, observe| {
            progress.report(site.name(), round, subtasks, observe);
        });
    }

    /// Decides on a round that failed. Returns the pause before the next round, which retries those
    /// subtasks that are paid for. Or why there is none.
    pub(crate) fn round_failed(
        &mut self,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
    ) -> Decision {
        let kinds = retried
            .iter()
            .filter_map(|(index, verdict)| Some((*index, verdict.kind()?)));
        let (paid, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| self.is_paid(*kind));
        let budget = self.shared.protections.budget();
        let budget = budget.filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget::new(budget, paid, !free.is_empty()));
        let (call, shared, deadline) = (&mut self.round, &self.shared, self.deadline);
        let now = || shared.now();
        let pause = self.rules.report_once(&now, |site, observe| {
            let failure = Failure::new(site, verdict, &error).deadline(deadline, now);
            let mut failure = failure.cancelled(is_cancelled);
            if let Some(budget) = &budget {
                failure = failure.budget(budget);
            }
            if let Some(observe) = observe {
                failure = failure.observe(observe);
            }
            call.failed_with(failure)
        })?;
        if let Some(paid) = budget.map(RoundBudget::into_paid) {
            self.pay(retried, &paid);
        }
        Ok(pause)
    }

    /// Keeps what was paid for the subtasks that are retried. The others are dead ends.
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
        is_paid(kind, self.shared.handles_throttling())
    }

    /// Ends the plan without another round: after one with that end, or in the middle of one (`None`).
    pub(crate) fn round_cut(&mut self, message: &str, ended: Option<AttemptEnd>, reason: Reason) {
        let (call, shared) = (self.round, &self.shared);
        self.rules.report_once(&|| shared.now(), |site, observe| {
            call.cut(site, &message, ended, reason, observe);
        });
    }

    /// Ends the plan before another round, with that error.
    pub(crate) fn round_stopped(&mut self, error: &str, reason: Reason) {
        let (mut call, shared) = (self.round, &self.shared);
        if !call.is_retried() {
            call = call.with_max(self.rules.policy().retries_allowed());
        }
        self.rules.report_once(&|| shared.now(), |site, observe| {
            let (values, ending) = (Values::Taken, Ending::Error);
            call.ended_after_pause(site.name(), &error, values, ending, reason, observe);
        });
    }

    /// Reports that the results are valid.
    pub(crate) fn round_succeeded(&mut self) {
        let (call, shared) = (self.round, &self.shared);
        let now = || shared.now();
        self.rules.report_once(&now, |site, observe| match observe {
            Some(observe) => call.succeeded_observed(site, observe),
            None => call.succeeded(site),
        });
    }

    /// The span of the next execution, within the subtask's, which is within the plan's.
    pub(crate) fn span_of(&mut self, index: usize) -> Span {
        let (is_on, plan) = (self.rules.settings.is_spanned, self.rules.name());
        let node = &self.plan.nodes[index];
        let subtask = node.name();
        let span = &mut self.runs[index].span;
        let span =
            span.get_or_insert_with(|| Span::of_call(is_on, || CallOfSubtask { plan, subtask }));
        let _entered = span.enter();
        Span::of_attempt(is_on, || node.executions.saturating_add(1))
    }

    /// What reports about that subtask.
    pub(crate) fn of(&mut self, index: usize) -> OfSubtask<'_, Q::Observer> {
        OfSubtask {
            plan: self.rules.parts().1,
            subtask: self.plan.nodes[index].name(),
            stopwatch: &mut self.runs[index].stopwatch,
        }
    }

    /// Reports an execution of that subtask to the observer.
    fn observe(&mut self, index: usize, attempt: u32, data: EventData<'_>) {
        let clock = self.shared.attempts();
        self.of(index).observe(&|| clock.now(), attempt, data);
    }

    /// The attempt of an execution that is to begin.
    pub(crate) fn attempt_of(&mut self, index: usize) -> AttemptsOf<'r, Q> {
        let fresh = self.attempts();
        let mut attempts = mem::replace(&mut self.runs[index].attempts, fresh);
        let executions = self.plan.nodes[index].executions;
        let call = attempts.call().at(executions.saturating_add(1));
        attempts.set_call(call);
        attempts.resumed(None);
        attempts
    }

    /// Decides what follows if that subtask is rejected.
    pub(crate) fn decide_on_rejection(
        &mut self,
        index: usize,
        attempts: &mut AttemptsOf<'r, Q>,
        is_cancelled: bool,
    ) {
        let Some((by, half_open_in)) = attempts.rejection() else {
            return;
        };
        let (policy, subtask) = (*self.rules.policy(), self.of(index));
        let name = subtask.name();
        let (site, rejected) = (Site::new(&policy, &name), Rejected::new(by));
        let failure = Failure::of_rejection(&site, &rejected, half_open_in);
        attempts.rejected(failure.cancelled(is_cancelled), subtask);
    }

    /// A subtask whose attempt may not begin runs no more in this run.
    pub(crate) fn rejected(&mut self, index: usize, by: RejectedBy) {
        let run = &mut self.runs[index];
        run.attempts.release();
        run.refused = Some(by.into());
    }

    pub(crate) fn succeeded(&mut self, index: usize, mut attempts: AttemptsOf<'r, Q>) {
        self.progress.done(1);
        let run = &mut self.runs[index];
        (run.verdict, run.span) = (None, None);
        attempts.answered(self.of(index));
        attempts.credit_success();
        let attempts = self.plan.nodes[index].executions;
        let data = EventData::Succeeded {
            attempts,
            corrections: 0,
            max: limit(self.rules.policy().retries_allowed()),
        };
        self.observe(index, attempts, data);
        self.progressed();
    }

    /// Returns the failure as it is to be kept.
    pub(crate) fn failed(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<'r, Q>,
        error: E,
    ) -> SubtaskFailure<E> {
        let verdict = self.on.verdict(&error);
        let text = shown_by(&self.on, &error);
        let error = SubtaskFailure::Error(error, text);
        let (policy, subtask) = (*self.rules.policy(), self.of(index));
        let name = subtask.name();
        if verdict.warns() {
            verdict_warning::tell(&name, verdict, &error);
        }
        let site = Site::new(&policy, &name);
        attempts.failed_with_others(Failure::new(&site, verdict, &error), subtask);
        let (attempt, run) = (self.plan.nodes[index].executions, &mut self.runs[index]);
        (run.attempts, run.verdict) = (attempts, Some(verdict));
        match verdict.kind() {
            // Reported with what follows: a dead end.
            None => run.unreported = Some(AttemptEnd::Stop),
            Some(kind) => {
                let error = &error;
                let data = EventData::AttemptFailed { error, kind };
                self.observe(index, attempt, data);
            }
        }
        error
    }

    /// Tells the observer that a subtask runs no more: because of that, or else of its failure.
    pub(crate) fn gave_up(
        &mut self,
        index: usize,
        cause: Option<&dyn fmt::Display>,
        reason: Reason,
    ) {
        let (node, run) = (&self.plan.nodes[index], &mut self.runs[index]);
        run.span = None;
        self.progress.failed(1);
        let failure = node.failure().map(|failure| failure as _);
        if let Some(error) = cause.or(failure) {
            let data = EventData::GaveUp {
                attempts: node.executions,
                corrections: 0,
                max: limit(self.rules.policy().retries_allowed()),
                error,
                ended: run.unreported.take(),
                reason,
            };
            let subtask = OfSubtask {
                plan: self.rules.parts().1,
                subtask: node.name(),
                stopwatch: &mut run.stopwatch,
            };
            subtask.observe(&|| self.shared.now(), node.executions, data);
        }
        self.progressed();
    }

    /// The verdict on the last failure of a subtask. One from before this run is asked for now.
    pub(crate) fn verdict(&mut self, index: usize) -> Verdict {
        if let Some(verdict) = self.runs[index].verdict {
            return verdict;
        }
        // A loaded failure has no error that could be classified, and loading it asks for another try.
        let error = self.plan.nodes[index].error();
        error.map_or(Verdict::TRANSIENT, |error| self.on.verdict(error))
    }

    /// A failure of that subtask gets no further round. If nothing else is left to retry, the plan
    /// gives up for that reason, too.
    pub(crate) fn refuse(&mut self, index: usize, reason: Reason) {
        self.runs[index].dead_end = Some(reason);
        self.make_dead_end(index, reason);
    }

    pub(crate) fn make_dead_end(&mut self, index: usize, reason: Reason) {
        let State::Failed { dead_end, .. } = &mut self.plan.nodes[index].state else {
            return;
        };
        *dead_end = true;
        let plan = self.rules.name();
        self.plan.ended(plan, index, Ended::DeadEnd, Some(reason));
        self.gave_up(index, None, reason);
    }

    /// Whether the next round executes that subtask, if it can begin.
    pub(crate) fn runs_again(&self, index: usize) -> bool {
        let (node, run) = (&self.plan.nodes[index], self.runs.get(index));
        let is_refused = run.is_some_and(|run| run.refused.is_some());
        node.is_open() || node.is_pending() && !is_refused
    }

    /// Why nothing is left to run: why the first was refused of those that another run could complete, or else the first
    /// dead end's reason.
    pub(crate) fn refusal(&self) -> Option<Reason> {
        let refused = self.runs.iter().find_map(|run| run.refused);
        refused.or_else(|| self.runs.iter().find_map(|run| run.dead_end))
    }
}

/// What the key `show` makes of an error.
fn shown_by<E, On: OnError<E>>(on: &On, error: &E) -> Option<String> {
    On::IS_SHOWN.then(|| shown(&Described { on, error }).to_string())
}
