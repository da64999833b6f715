//! A run of a plan: what its keys make of its rounds and its subtasks.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::mem;

use crate::call::attempts::{Attempts, Shared};
use crate::call::decide::Decision;
use crate::call::failure::{Failure, is_paid};
use crate::call::protections::Guards;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::context::Context;
use crate::chain::keys::SharedKeys;
use crate::chain::observer::{ObserverKey, StopwatchOf};
use crate::chain::on_error::{Described, OnError};
use crate::chain::span::SpanKey;
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::classify::verdict::Verdict;
use crate::error_text::shown::shown;
use crate::key::Key;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::ignored_timeout;
use crate::observe::progress::Counts;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::observe::verdict_warning;
use crate::plan::Plan;
use crate::plan::event::{CallOfSubtask, Ended};
use crate::plan::graph::Graph;
use crate::plan::node::{State, SubtaskFailure};
use crate::plan::round_budget::RoundBudget;
use crate::plan::run::Again;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::attempt_clock::Clock;
use crate::time::moment::Moment;

/// A run of a plan. The plan is a call, whose attempts its rounds are, and its subtasks are calls
/// of their own: each execution is an attempt.
pub(crate) struct PlanRun<'r, 'a, T, E, F: ?Sized, On, K: SharedKeys> {
    pub(crate) plan: &'r mut Plan<'a, T, E, F>,
    pub(crate) graph: Graph,
    /// Whether a round executes each subtask, by index in the plan.
    pub(crate) scope: Vec<bool>,
    /// What a subtask is that failed before and fails again.
    pub(crate) again: Again,
    /// What its rounds go by. Named after the plan unless a key names it.
    pub(crate) rules: Context<Policy, K, Arc<str>>,
    on: On,
    pub(crate) round: Attempts<K::Guards>,
    /// Every subtask of this round, by index in the plan.
    runs: Vec<SubtaskRun<K>>,
    /// The stopwatch that each subtask gets a copy of.
    stopwatch: StopwatchOf<K>,
    progress: <K::Observer as ObserverKey>::Progress,
}

/// What the attempts of a subtask go by: the plan's rules, under a name of plan and subtask.
pub(crate) struct SubtaskShared<'a, K: SharedKeys> {
    rules: &'a mut Context<Policy, K, Arc<str>>,
    subtask: &'a str,
    stopwatch: &'a mut StopwatchOf<K>,
}

/// What this run knows of a subtask.
struct SubtaskRun<K: SharedKeys> {
    attempts: Attempts<K::Guards>,
    /// The verdict on the last failure.
    verdict: Option<Verdict>,
    /// How the last execution ended, if the observer has not heard of it yet.
    unreported: Option<AttemptEnd>,
    /// Why the subtask runs no more, where it failed only in passing or not at all.
    refused: Option<Reason>,
    /// Why the failure got no further round.
    dead_end: Option<Reason>,
    stopwatch: StopwatchOf<K>,
    /// The span from the first execution to the subtask's end.
    span: Option<SpanOf<K>>,
}

type SpanOf<K> = <<K as SharedKeys>::Span as SpanKey>::Span;
pub(crate) type AttemptsOf<K> = Attempts<<K as SharedKeys>::Guards>;

impl<K: SharedKeys> SubtaskShared<'_, K> {
    /// Tells the observer, if there is one, of an execution. The log has it from the plan.
    fn observe(&mut self, attempt: u32, data: EventData<'_>) {
        if self.is_observed() {
            self.tell(|site, observe| {
                if let Some(observe) = observe {
                    observe(&Event::new(site.name(), attempt, data));
                }
            });
        }
    }
}

impl<K: SharedKeys> Shared for SubtaskShared<'_, K> {
    type Guards = K::Guards;

    fn policy(&self) -> &Policy {
        self.rules.policy()
    }

    fn guards(&self) -> &K::Guards {
        self.rules.guards()
    }

    fn is_observed(&self) -> bool {
        self.rules.is_observed()
    }

    fn tell<T>(&mut self, tell: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> T) -> T {
        let (plan, subtask) = (self.rules.name(), self.subtask);
        let name = CallOfSubtask { plan, subtask }.to_string();
        let site = Site::new(&self.rules.policy, &name);
        let observer = &mut self.rules.keys.observer;
        observer.timed(self.stopwatch, |observe| tell(&site, observe))
    }
}

impl<K: SharedKeys> SubtaskRun<K> {
    fn new(stopwatch: StopwatchOf<K>) -> Self {
        Self {
            attempts: Attempts::new(),
            verdict: None,
            unreported: None,
            refused: None,
            dead_end: None,
            stopwatch,
            span: None,
        }
    }
}

impl<'r, 'a, T, E, F: ?Sized, On, K: SharedKeys> PlanRun<'r, 'a, T, E, F, On, K> {
    /// A run that has not begun.
    pub(crate) fn new(
        plan: &'r mut Plan<'a, T, E, F>,
        policy: &Policy,
        on: On,
        keys: K,
        clock: impl Fn() -> Clock,
    ) -> Self {
        let mut rules = Context::new(*policy, keys, Arc::clone(&plan.name));
        rules.starts(&clock);
        Self {
            plan,
            graph: Graph::default(),
            scope: Vec::new(),
            again: Again::Failed,
            rules,
            on,
            round: Attempts::new(),
            runs: Vec::new(),
            stopwatch: K::Observer::stopwatch(clock),
            progress: Default::default(),
        }
    }
}

impl<T, E, F, On, K> PlanRun<'_, '_, T, E, F, On, K>
where
    E: fmt::Display,
    F: ?Sized,
    On: OnError<E>,
    K: SharedKeys,
{
    /// Takes in what became of subtasks before the run.
    pub(crate) fn prepare(&mut self) {
        for node in &mut self.plan.nodes {
            self.progress.done(usize::from(node.is_completed()));
            self.progress.failed(usize::from(node.is_dead_end()));
            if On::IS_SHOWN {
                node.show(|error| shown_by(&self.on, error));
            }
        }
        if self.rules.policy.attempt_limit().is_some() {
            ignored_timeout::tell(self.rules.name());
        }
    }

    /// A round begins.
    pub(crate) fn begin_round(&mut self) {
        self.round.tell_started(&mut self.rules);
        let (subtasks, stopwatch) = (self.plan.len(), self.stopwatch);
        self.runs
            .resize_with(subtasks, || SubtaskRun::new(stopwatch));
        self.progressed();
    }

    /// Tells the observer how far the plan is.
    fn progressed(&mut self) {
        let (progress, round) = (&mut self.progress, self.round.call().attempt());
        let subtasks = self.runs.len();
        self.rules
            .tell(|site, observe| progress.tell(site.name(), round, subtasks, observe));
    }

    /// Decides on a round that failed. Returns the pause before the next round, which retries those
    /// subtasks that are paid for. Or why there is none.
    pub(crate) fn round_failed(
        &mut self,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
        (deadline, now): (Option<Moment>, impl FnOnce() -> Moment),
    ) -> Decision {
        let kinds = retried
            .iter()
            .filter_map(|(index, verdict)| Some((*index, verdict.kind()?)));
        let (paid, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| self.is_paid(*kind));
        let budget = self.rules.guards().protections().budget.get().cloned();
        let budget = budget.as_ref().filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget::new(budget, paid, !free.is_empty()));
        let call = &mut self.round.call;
        let pause = self.rules.tell(|site, observe| {
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
                run.attempts = Attempts::of(Call::after(1));
            }
            run.attempts.call.followed = kind;
            if paid.next_if(|(paid, _)| *paid == index).is_some() {
                run.attempts.pay(self.rules.guards());
            } else if kind.is_some() {
                run.refused = Some(Reason::Budget);
                self.make_dead_end(index, Reason::Budget);
            }
        }
    }

    fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.rules.guards().protections().handle_throttling())
    }

    /// Ends the plan without another round: after one with that end, or in the middle of one (`None`).
    pub(crate) fn round_cut(&mut self, message: &str, ended: Option<AttemptEnd>, reason: Reason) {
        let call = *self.round.call();
        self.rules
            .tell(|site, observe| call.cut(site, &message, ended, reason, observe));
    }

    /// The span of the next execution, within the subtask's, which is within the plan's.
    pub(crate) fn span_of(&mut self, index: usize) -> SpanOf<K> {
        let (spans, plan) = (self.rules.keys.span, self.rules.name());
        let node = &self.plan.nodes[index];
        let subtask = node.name();
        let span = &mut self.runs[index].span;
        let span = span.get_or_insert_with(|| spans.of_call(|| CallOfSubtask { plan, subtask }));
        let _entered = K::Span::enter(span);
        spans.of_attempt(node.executions.saturating_add(1))
    }

    /// What the attempts of that subtask go by.
    pub(crate) fn of(&mut self, index: usize) -> SubtaskShared<'_, K> {
        SubtaskShared {
            rules: &mut self.rules,
            subtask: self.plan.nodes[index].name(),
            stopwatch: &mut self.runs[index].stopwatch,
        }
    }

    /// The attempt of an execution that is to begin.
    pub(crate) fn attempt_of(&mut self, index: usize) -> AttemptsOf<K> {
        let mut attempts = mem::take(&mut self.runs[index].attempts);
        let executions = self.plan.nodes[index].executions;
        attempts.call = attempts.call.at(executions.saturating_add(1));
        attempts
    }

    /// A subtask that was not let begin runs no more in this run.
    pub(crate) fn rejected(&mut self, index: usize, by: RejectedBy) {
        let run = &mut self.runs[index];
        run.attempts.release();
        run.refused = Some(by.reason());
    }

    pub(crate) fn succeeded(&mut self, index: usize, mut attempts: AttemptsOf<K>) {
        self.progress.done(1);
        let run = &mut self.runs[index];
        (run.verdict, run.span) = (None, None);
        attempts.answered(&mut self.of(index));
        attempts.credit(self.rules.guards());
        let attempts = self.plan.nodes[index].executions;
        let data = EventData::Succeeded {
            attempts,
            corrections: 0,
            max: limit(self.rules.policy.retries_allowed()),
        };
        self.of(index).observe(attempts, data);
        self.progressed();
    }

    /// Returns the failure as it is to be kept.
    pub(crate) fn failed(
        &mut self,
        index: usize,
        mut attempts: AttemptsOf<K>,
        error: E,
    ) -> SubtaskFailure<E> {
        let verdict = self.on.verdict(&error);
        let text = shown_by(&self.on, &error);
        let error = SubtaskFailure::Error(error, text);
        let subtask = &mut self.of(index);
        if verdict.warns() {
            subtask.tell(|site, _| verdict_warning::tell(site.name(), verdict, &error));
        }
        attempts.failed_with_others(subtask, verdict, &error);
        let (attempt, run) = (self.plan.nodes[index].executions, &mut self.runs[index]);
        (run.attempts, run.verdict) = (attempts, Some(verdict));
        match verdict.kind() {
            // What follows tells of it: a dead end.
            None => run.unreported = Some(AttemptEnd::Stop),
            Some(kind) => {
                let error = &error;
                let data = EventData::AttemptFailed { error, kind };
                self.of(index).observe(attempt, data);
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
                max: limit(self.rules.policy.retries_allowed()),
                error,
                ended: run.unreported.take(),
                reason,
            };
            let mut subtask = SubtaskShared {
                rules: &mut self.rules,
                subtask: node.name(),
                stopwatch: &mut run.stopwatch,
            };
            subtask.observe(node.executions, data);
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
