//! The keys of a run, and what they make of its subtasks.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::mem;
use core::time::Duration;

use crate::call::attempts::{Attempts, Shared};
use crate::call::decide;
use crate::call::failure::{Ending, Failure, is_paid};
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
use crate::classify::verdict::{Basis, Verdict};
use crate::error_text::shown::shown;
use crate::key::{Key, Room};
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::progress::Counts;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::observe::unknown_error;
use crate::plan::event::CallOfSubtask;
use crate::plan::node::SubtaskFailure;
use crate::plan::round_budget::RoundBudget;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;
use crate::time::attempt_clock::Clock;
use crate::time::moment::Moment;

/// The plan as a call, whose attempts its rounds are, and its subtasks as calls of their own: each execution is an
/// attempt.
pub(crate) struct RunKeys<On, K: SharedKeys> {
    pub(crate) plan: PlanShared<K>,
    on: On,
    round: Attempts<K::Guards>,
    /// How many subtasks the plan has in this round.
    subtasks: usize,
    /// Every subtask, by index in the plan.
    runs: Vec<SubtaskRun<K>>,
    /// The stopwatch that each subtask gets a copy of.
    stopwatch: StopwatchOf<K>,
    progress: <K::Observer as ObserverKey>::Progress,
}

/// What the calls of a run share, and what its rounds go by. Named after the plan unless a key names it.
type PlanShared<K> = Context<Policy, K, Arc<str>>;

/// What the attempts of a subtask go by: the plan's, under a name of plan and subtask.
struct SubtaskShared<'a, K: SharedKeys> {
    plan: &'a mut PlanShared<K>,
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

/// An execution of a subtask.
#[derive(Clone, Copy)]
pub(crate) struct Execution<'a> {
    pub(crate) index: usize,
    pub(crate) subtask: &'a str,
    /// Counted from 1.
    pub(crate) attempt: u32,
}

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
        self.plan.policy()
    }

    fn guards(&self) -> &K::Guards {
        self.plan.guards()
    }

    fn is_observed(&self) -> bool {
        self.plan.is_observed()
    }

    fn tell<T>(&mut self, tell: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> T) -> T {
        let (plan, subtask) = (self.plan.name(), self.subtask);
        let name = CallOfSubtask { plan, subtask }.to_string();
        let site = Site::new(&self.plan.policy, &name);
        let observer = &mut self.plan.keys.observer;
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

impl<On, K: SharedKeys> RunKeys<On, K> {
    /// Keys for a plan of that name, unless they name it.
    pub(crate) fn new(
        policy: &Policy,
        plan: &Arc<str>,
        on: On,
        keys: K,
        clock: impl Fn() -> Clock,
    ) -> Self {
        let mut plan = Context::new(*policy, keys, Arc::clone(plan));
        plan.starts(&clock);
        Self {
            plan,
            on,
            round: Attempts::new(),
            subtasks: 0,
            runs: Vec::new(),
            stopwatch: K::Observer::stopwatch(clock),
            progress: Default::default(),
        }
    }

    /// So many subtasks have completed before the run, and so many are dead ends.
    pub(crate) fn begin_with(&mut self, completed: usize, dead_ends: usize) {
        self.progress.done(completed);
        self.progress.failed(dead_ends);
    }

    /// A round begins, in which the plan has so many subtasks.
    pub(crate) fn begin_round(&mut self, subtasks: usize) {
        self.round.tell_started(&mut self.plan);
        self.subtasks = subtasks;
        let stopwatch = self.stopwatch;
        self.runs
            .resize_with(subtasks, || SubtaskRun::new(stopwatch));
        self.progressed();
    }

    /// Tells the observer how far the plan is.
    fn progressed(&mut self) {
        let (progress, round) = (&mut self.progress, self.round.call().attempt());
        let subtasks = self.subtasks;
        self.plan
            .tell(|site, observe| progress.tell(site.name(), round, subtasks, observe));
    }

    /// How long the rounds may yet pause.
    pub(crate) fn pauses_left(&self, policy: &Policy) -> Duration {
        self.round.call().pauses_left(policy)
    }

    /// Decides on a round that failed. Returns the pause before the next round, which retries those subtasks, and which
    /// of them are not paid for. Or why there is none.
    pub(crate) fn round_failed(
        &mut self,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
        is_cancelled: bool,
        (deadline, now): (Option<Moment>, impl FnOnce() -> Moment),
    ) -> Result<(Duration, Vec<usize>), Reason> {
        let kinds = retried
            .iter()
            .filter_map(|(index, verdict)| Some((*index, verdict.kind()?)));
        let (paid, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| self.is_paid(*kind));
        let budget = self.plan.guards().protections().budget.get().cloned();
        let budget = budget.as_ref().filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget::new(budget, paid, !free.is_empty()));
        let call = &mut self.round.call;
        let pause = self.plan.tell(|site, observe| {
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
        let paid = budget.map(RoundBudget::into_paid);
        let unpaid = paid.map(|paid| self.pay(retried, &paid));
        Ok((pause, unpaid.unwrap_or_default()))
    }

    /// Keeps what was paid for the subtasks that are retried. Returns the others, which run no more.
    fn pay(&mut self, retried: &[(usize, Verdict)], paid: &[(usize, Kind)]) -> Vec<usize> {
        let mut paid = paid.iter().peekable();
        let mut unpaid = Vec::new();
        for (index, verdict) in retried {
            let kind = verdict.kind().filter(|kind| self.is_paid(*kind));
            let run = &mut self.runs[*index];
            // Its first attempt was in an earlier run.
            if run.verdict.is_none() {
                run.attempts = Attempts::of(Call::after(1));
            }
            run.attempts.call.followed = kind;
            if paid.next_if(|(paid, _)| paid == index).is_some() {
                run.attempts.pay(self.plan.guards());
            } else if kind.is_some() {
                run.refused = Some(Reason::Budget);
                unpaid.push(*index);
            }
        }
        unpaid
    }

    fn is_paid(&self, kind: Kind) -> bool {
        is_paid(kind, self.plan.guards().protections().handle_throttling())
    }

    /// Tells of the end of the plan after a pause.
    pub(crate) fn round_gave_up(&mut self, error: &str, reason: Reason) {
        let call = *self.round.call();
        self.plan.tell(|site, observe| {
            let (values, ending) = (Values::Taken, Ending::Error);
            call.ended_after_pause(site.name(), &error, values, ending, reason, observe);
        });
    }

    /// Ends the plan without another round: after one with that end, or in the middle of one (`None`).
    pub(crate) fn cut(&mut self, message: &str, ended: Option<AttemptEnd>, reason: Reason) {
        let call = *self.round.call();
        self.plan
            .tell(|site, observe| call.cut(site, &message, ended, reason, observe));
    }

    /// Tells that the results are valid.
    pub(crate) fn round_succeeded(&mut self) {
        self.round.tell_of_success(&mut self.plan);
    }

    /// The span of an execution, within the subtask's, which is within the plan's.
    pub(crate) fn span_of(&mut self, execution: Execution<'_>) -> SpanOf<K> {
        let (spans, plan) = (self.plan.keys.span, self.plan.name());
        let subtask = execution.subtask;
        let span = &mut self.runs[execution.index].span;
        let span = span.get_or_insert_with(|| spans.of_call(|| CallOfSubtask { plan, subtask }));
        let _entered = K::Span::enter(span);
        spans.of_attempt(execution.attempt)
    }

    fn of<'a>(&'a mut self, execution: Execution<'a>) -> SubtaskShared<'a, K> {
        SubtaskShared {
            plan: &mut self.plan,
            subtask: execution.subtask,
            stopwatch: &mut self.runs[execution.index].stopwatch,
        }
    }

    /// The attempt of an execution that is to begin.
    pub(crate) fn attempt_of(&mut self, execution: Execution<'_>) -> AttemptsOf<K> {
        let mut attempts = mem::take(&mut self.runs[execution.index].attempts);
        attempts.call = attempts.call.at(execution.attempt);
        attempts
    }

    /// Takes a place with the limiter. Returns whether the attempt has to wait for its turn.
    pub(crate) fn enter(
        &mut self,
        execution: Execution<'_>,
        attempts: &mut AttemptsOf<K>,
    ) -> Result<bool, RejectedBy> {
        attempts.enter(&mut self.of(execution), 1)
    }

    /// Ends the wait for its turn.
    pub(crate) fn waited(
        &mut self,
        execution: Execution<'_>,
        attempts: &mut AttemptsOf<K>,
        waited: Result<Duration, RejectedBy>,
    ) -> Result<(), RejectedBy> {
        attempts.waited(&mut self.of(execution), waited)
    }

    /// The pause before a rejected execution is tried again, or what ends the subtask.
    pub(crate) fn pause_after(
        &mut self,
        by: RejectedBy,
        execution: Execution<'_>,
        attempts: &mut AttemptsOf<K>,
        (deadline, now): (Option<Moment>, impl FnOnce() -> Moment),
    ) -> Result<Duration, RejectedBy> {
        let shared = &mut self.of(execution);
        attempts.rejected(shared, by, |failure| failure.deadline(deadline, now))
    }

    /// Begins an execution that has its turn.
    pub(crate) fn begin(
        &mut self,
        execution: Execution<'_>,
        attempts: &mut AttemptsOf<K>,
    ) -> Result<(), RejectedBy> {
        attempts.begin(&mut self.of(execution))
    }

    /// A subtask that was not let begin runs no more in this run.
    pub(crate) fn rejected(&mut self, index: usize, by: RejectedBy) {
        let run = &mut self.runs[index];
        run.attempts.release();
        run.refused = Some(by.reason());
    }

    pub(crate) fn succeeded(&mut self, execution: Execution<'_>, mut attempts: AttemptsOf<K>) {
        self.progress.done(1);
        let run = &mut self.runs[execution.index];
        (run.verdict, run.span) = (None, None);
        attempts.answered(&mut self.of(execution));
        attempts.credit(self.plan.guards());
        let data = EventData::Succeeded {
            attempts: execution.attempt,
            corrections: 0,
            max: limit(self.plan.policy.retries_allowed()),
        };
        self.of(execution).observe(execution.attempt, data);
        self.progressed();
    }

    /// What the key `show` makes of an error.
    pub(crate) fn shown<E>(&self, error: &E) -> Option<String>
    where
        On: OnError<E>,
    {
        let on = &self.on;
        On::IS_SHOWN.then(|| shown(&Described { on, error }).to_string())
    }

    /// Returns the failure as it is to be kept.
    pub(crate) fn failed<E: fmt::Display>(
        &mut self,
        execution: Execution<'_>,
        mut attempts: AttemptsOf<K>,
        error: E,
    ) -> SubtaskFailure<E>
    where
        On: OnError<E>,
    {
        let policy = self.plan.policy_in_force();
        let verdict = decide::verdict(&policy, || self.on.verdict(&error));
        let known = policy.is_enabled().then_some(verdict);
        let text = self.shown(&error);
        let error = SubtaskFailure::Error(error, text);
        let subtask = &mut self.of(execution);
        if known.is_some_and(|verdict| verdict.basis() == Basis::Unknown) {
            subtask.tell(|site, _| unknown_error::tell(site.name(), &error));
        }
        attempts.failed_with_others(subtask, verdict, &error);
        let run = &mut self.runs[execution.index];
        (run.attempts, run.verdict) = (attempts, known);
        match verdict.kind() {
            None => {
                run.unreported = Some(AttemptEnd::Stop);
                if let Some((stopwatch, _)) = run.stopwatch.get_mut() {
                    stopwatch.forget_attempt(execution.attempt);
                }
            }
            Some(kind) => {
                let error = &error;
                let data = EventData::AttemptFailed { error, kind };
                self.of(execution).observe(execution.attempt, data);
            }
        }
        error
    }

    /// Tells the observer that a subtask runs no more.
    pub(crate) fn gave_up(
        &mut self,
        execution: Execution<'_>,
        error: &dyn fmt::Display,
        reason: Reason,
    ) {
        let run = &mut self.runs[execution.index];
        run.span = None;
        let ended = run.unreported.take();
        self.progress.failed(1);
        let data = EventData::GaveUp {
            attempts: execution.attempt,
            corrections: 0,
            max: limit(self.plan.policy.retries_allowed()),
            error,
            ended,
            reason,
        };
        self.of(execution).observe(execution.attempt, data);
        self.progressed();
    }

    /// The verdict on the last failure of a subtask. One from before this run is asked for now.
    pub(crate) fn verdict<E>(&mut self, index: usize, error: Option<&E>) -> Verdict
    where
        On: OnError<E>,
    {
        if let Some(verdict) = self.runs[index].verdict {
            return verdict;
        }
        // A loaded failure has no error that could be classified, and loading it asks for another try.
        // Nor is one classified where retries are off: the round's decision ends the plan.
        let error = error.filter(|_| self.plan.policy_in_force().is_enabled());
        error.map_or(Verdict::TRANSIENT, |error| self.on.verdict(error))
    }

    /// A failure of that subtask gets no further round.
    pub(crate) fn note_dead_end(&mut self, index: usize, reason: Reason) {
        self.runs[index].dead_end = Some(reason);
    }

    pub(crate) fn is_refused(&self, index: usize) -> bool {
        let run = self.runs.get(index);
        run.is_some_and(|run| run.refused.is_some())
    }

    /// Why nothing is left to run: why the first was refused of those that another run could complete, or else the first
    /// dead end's reason.
    pub(crate) fn refusal(&self) -> Option<Reason> {
        let refused = self.runs.iter().find_map(|run| run.refused);
        refused.or_else(|| self.runs.iter().find_map(|run| run.dead_end))
    }
}
