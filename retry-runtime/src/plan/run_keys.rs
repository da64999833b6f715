//! The keys of a run, and what they make of its subtasks.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::call::decide;
use crate::call::failure::{Failure, is_paid};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::breaker::{Admitted, MayAdmit};
use crate::chain::budget::MayPay;
use crate::chain::keys::SharedKeys;
use crate::chain::limiter::{InLine, MayWait};
use crate::chain::name::MayName;
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{Described, OnError};
use crate::chain::span::MayOpenSpans;
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::classify::verdict::Verdict;
use crate::error_text::shown::shown;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::{Event, EventData};
use crate::observe::progress::Counts;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::plan::event::CallOfSubtask;
use crate::plan::node::SubtaskFailure;
use crate::plan::round_budget::RoundBudget;
use crate::policy::Policy;
use crate::policy::schedule::limit;

/// To budget, breaker, limiter and observer, each subtask is a call of its own, named after plan and subtask. Each of
/// its executions is an attempt.
pub(crate) struct RunKeys<On, K: SharedKeys> {
    pub(crate) policy: Policy,
    /// What the plan is called in this run.
    pub(crate) name: Arc<str>,
    pub(crate) idempotent: bool,
    on: On,
    budget: K::Budget,
    breaker: K::Breaker,
    limiter: K::Limiter,
    observer: K::Observer,
    pub(crate) spans: K::Span,
    /// By place in the plan.
    accounts: Vec<Account<K>>,
    progress: <K::Observer as MayObserve>::Progress,
    /// The number of the round.
    round: u32,
    /// How many subtasks the plan has in it.
    subtasks: usize,
}

/// What this run knows of a subtask.
pub(crate) struct Account<K: SharedKeys> {
    call: Call,
    /// On its last failure.
    verdict: Option<Verdict>,
    /// What was paid for its retry, until that begins.
    paid: <K::Budget as MayPay>::Paid,
    /// How its last execution ended, if the observer was not told yet.
    untold: Option<AttemptEnd>,
    /// Why it runs no more, where it failed only in passing or not at all.
    refused: Option<Reason>,
    /// Why its failure got no further round.
    dead_end: Option<Reason>,
    /// From its first execution to its end.
    span: Option<SpanOf<K>>,
}

type SpanOf<K> = <<K as SharedKeys>::Span as MayOpenSpans>::Span;

/// What let an execution begin.
pub(crate) struct Guards<K: SharedKeys> {
    admitted: Admitted<K::Breaker>,
    turn: InLine<K::Limiter>,
}

/// An execution of a subtask.
#[derive(Clone, Copy)]
pub(crate) struct Execution<'a> {
    pub(crate) place: usize,
    pub(crate) subtask: &'a str,
    /// From 1.
    pub(crate) attempt: u32,
}

impl<K: SharedKeys> Account<K> {
    fn new() -> Self {
        Self {
            call: Call::new(),
            verdict: None,
            untold: None,
            paid: Default::default(),
            refused: None,
            dead_end: None,
            span: None,
        }
    }
}

impl<On, K: SharedKeys> RunKeys<On, K> {
    /// Of a plan of that name, unless they name it.
    pub(crate) fn new(policy: &Policy, plan: &Arc<str>, on: On, keys: K) -> Self {
        let keys = keys.into_keys();
        let name = keys.name.named();
        Self {
            policy: *policy,
            name: name.map_or_else(|| Arc::clone(plan), Arc::from),
            idempotent: keys.idempotent,
            on,
            budget: keys.budget,
            breaker: keys.breaker,
            limiter: keys.limiter,
            observer: keys.observer,
            spans: keys.span,
            accounts: Vec::new(),
            progress: Default::default(),
            round: 0,
            subtasks: 0,
        }
    }

    /// So many subtasks have completed before the run, and so many are dead ends.
    pub(crate) fn begin_with(&mut self, completed: usize, dead_ends: usize) {
        self.progress.done(completed);
        self.progress.failed(dead_ends);
    }

    /// A round begins, in which the plan has so many subtasks.
    pub(crate) fn begin_round(&mut self, round: u32, subtasks: usize) {
        (self.round, self.subtasks) = (round, subtasks);
        self.progressed();
    }

    /// Tells the observer how far the plan is.
    fn progressed(&mut self) {
        let observe = self.observer.observe();
        self.progress
            .tell(&self.name, self.round, self.subtasks, observe);
    }

    /// What is told of the plan as a whole: its policy, its name, and who is told.
    pub(crate) fn told(&mut self) -> (&Policy, &str, Option<Observe<'_>>) {
        (&self.policy, &self.name, self.observer.observe())
    }

    /// The same, and what a round is paid from that retries those subtasks after such failures.
    pub(crate) fn round(
        &mut self,
        retried: &[(usize, Verdict)],
    ) -> (Option<RoundBudget<'_>>, &Policy, &str, Option<Observe<'_>>) {
        let kinds = retried
            .iter()
            .filter_map(|(place, verdict)| Some((*place, verdict.kind()?)));
        let (paid, free): (Vec<_>, Vec<_>) = kinds.partition(|(_, kind)| Self::is_paid(*kind));
        let budget = self.budget.payer();
        let budget = budget.filter(|_| !retried.is_empty());
        let budget = budget.map(|budget| RoundBudget::new(budget, paid, !free.is_empty()));
        (budget, &self.policy, &self.name, self.observer.observe())
    }

    fn is_paid(kind: Kind) -> bool {
        is_paid(kind, K::Limiter::IS_NAMED)
    }

    fn account(&mut self, place: usize) -> &mut Account<K> {
        if self.accounts.len() <= place {
            self.accounts.resize_with(place + 1, Account::new);
        }
        &mut self.accounts[place]
    }

    /// The span of an execution, within the subtask's, which is within the plan's.
    pub(crate) fn span_of(&mut self, execution: Execution<'_>) -> SpanOf<K> {
        let (spans, plan) = (self.spans, Arc::clone(&self.name));
        let subtask = execution.subtask;
        let span = &mut self.account(execution.place).span;
        let span = span.get_or_insert_with(|| {
            spans.of_call(|| CallOfSubtask {
                plan: &plan,
                subtask,
            })
        });
        let _entered = K::Span::enter(span);
        spans.of_attempt(execution.attempt)
    }

    fn call_of(&self, subtask: &str) -> String {
        let plan = &self.name;
        CallOfSubtask { plan, subtask }.to_string()
    }

    /// Takes a place with the limiter. The breaker is asked before the queue, and passed after it.
    pub(crate) fn enter(
        &mut self,
        execution: Execution<'_>,
    ) -> Result<InLine<K::Limiter>, RejectedBy> {
        if K::Limiter::IS_NAMED && self.breaker.is_open() {
            return Err(RejectedBy::Breaker);
        }
        let mut turn = InLine::new(&self.limiter);
        if !turn.has_turn() {
            let name = self.call_of(execution.subtask);
            execution
                .call()
                .waits_in(&name, &mut turn, self.observer.observe());
        }
        Ok(turn)
    }

    /// Its turn has come after that time.
    pub(crate) fn waited(&mut self, execution: Execution<'_>, waited: Duration) {
        let name = self.call_of(execution.subtask);
        let call = execution.call();
        call.waited(&name, waited, self.observer.observe());
    }

    /// Lets an execution begin that has its turn.
    pub(crate) fn admit(
        &mut self,
        execution: Execution<'_>,
        mut turn: InLine<K::Limiter>,
    ) -> Result<Guards<K>, RejectedBy> {
        let Some(admitted) = Admitted::by(&self.breaker) else {
            turn.give_back();
            return Err(RejectedBy::Breaker);
        };
        K::Budget::spend(&mut self.account(execution.place).paid);
        if let Some(transition) = admitted.transition() {
            let name = self.call_of(execution.subtask);
            let observe = self.observer.observe();
            execution.call().turned(&name, transition, &"", observe);
        }
        if self.observer.observe().is_some() {
            let name = self.call_of(execution.subtask);
            if let Some(observe) = self.observer.observe() {
                execution.call().started(&name, observe);
            }
        }
        Ok(Guards { admitted, turn })
    }

    /// What was not let begin runs no more in this run, and gets back what was paid for it.
    pub(crate) fn rejected(&mut self, place: usize, by: RejectedBy) {
        let account = self.account(place);
        account.refused = Some(by.reason());
        account.paid = Default::default();
    }

    pub(crate) fn succeeded(&mut self, execution: Execution<'_>, mut guards: Guards<K>) {
        self.progress.done(1);
        let transition = guards.admitted.succeeded();
        let change = guards.turn.succeeded();
        let account = self.account(execution.place);
        account.verdict = None;
        account.span = None;
        let call = account.call;
        self.budget.credit(&call);
        if transition.is_none() && change.is_none() && self.observer.observe().is_none() {
            return;
        }
        let name = self.call_of(execution.subtask);
        if let Some(transition) = transition {
            let observe = self.observer.observe();
            execution.call().turned(&name, transition, &"", observe);
        }
        if let Some(change) = change {
            let observe = self.observer.observe();
            execution.call().limiter_changed(&name, change, observe);
        }
        let max = limit(self.policy.max_retries());
        if let Some(observe) = self.observer.observe() {
            let data = EventData::Succeeded {
                attempts: execution.attempt,
                corrections: 0,
                max,
            };
            observe(&Event::new(&name, execution.attempt, data));
        }
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
        mut guards: Guards<K>,
        error: E,
    ) -> SubtaskFailure<E>
    where
        On: OnError<E>,
    {
        let verdict = decide::verdict(&self.policy, || self.on.verdict(&error));
        let text = self.shown(&error);
        let error = SubtaskFailure::Error(error, text);
        let mut call = self.account(execution.place).call;
        let name = self.call_of(execution.subtask);
        let site = Site::new(&self.policy, &name);
        let mut failure = Failure::new(&site, verdict, &error);
        if let Some(permit) = guards.admitted.recorder() {
            failure = failure.recorded(permit);
        }
        if let Some(turn) = guards.turn.left() {
            failure = failure.left(turn);
        }
        if let Some(budget) = self.budget.payer() {
            failure = failure.budget(budget);
        }
        if let Some(observe) = self.observer.observe() {
            failure = failure.observe(observe);
        }
        call.tell_of_failure(execution.attempt, &mut failure);
        let is_enabled = self.policy.is_enabled();
        let account = self.account(execution.place);
        account.call = call;
        account.verdict = is_enabled.then_some(verdict);
        match verdict.kind() {
            None => account.untold = Some(AttemptEnd::Stop),
            Some(kind) => {
                if let Some(observe) = self.observer.observe() {
                    let error = &error;
                    let data = EventData::AttemptFailed { error, kind };
                    observe(&Event::new(&name, execution.attempt, data));
                }
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
        let account = self.account(execution.place);
        account.span = None;
        let ended = account.untold.take();
        self.progress.failed(1);
        let name = self.call_of(execution.subtask);
        let max = limit(self.policy.max_retries());
        if let Some(observe) = self.observer.observe() {
            let data = EventData::GaveUp {
                attempts: execution.attempt,
                corrections: 0,
                max,
                error,
                ended,
                reason,
            };
            observe(&Event::new(&name, execution.attempt, data));
        }
        self.progressed();
    }

    /// The verdict on the last failure of a subtask. One from before this run is asked for now.
    pub(crate) fn verdict<E>(&mut self, place: usize, error: Option<&E>) -> Verdict
    where
        On: OnError<E>,
    {
        if let Some(verdict) = self.account(place).verdict {
            return verdict;
        }
        // A loaded failure has no error that could be classified, and loading it asks for another try.
        // Nor is one classified where retries are off: the round's decision ends the plan.
        let error = error.filter(|_| self.policy.is_enabled());
        error.map_or(Verdict::TRANSIENT, |error| self.on.verdict(error))
    }

    /// Its failure gets no further round.
    pub(crate) fn note_dead_end(&mut self, place: usize, reason: Reason) {
        self.account(place).dead_end = Some(reason);
    }

    pub(crate) fn is_refused(&self, place: usize) -> bool {
        let account = self.accounts.get(place);
        account.is_some_and(|account| account.refused.is_some())
    }

    /// Why nothing is left to run: why the first was refused of those that another run could complete, or else the first
    /// dead end's reason.
    pub(crate) fn refusal(&self) -> Option<Reason> {
        let refused = self.accounts.iter().find_map(|account| account.refused);
        let dead_ends = || self.accounts.iter().find_map(|account| account.dead_end);
        refused.or_else(dead_ends)
    }

    /// Of these subtasks, a round was paid for those, in the same order. Returns the others, which run no more.
    pub(crate) fn pay(
        &mut self,
        retried: &[(usize, Verdict)],
        paid: &[(usize, Kind)],
    ) -> Vec<usize> {
        let mut payments = paid.iter().peekable();
        let mut unpaid = Vec::new();
        for (place, verdict) in retried {
            let kind = verdict.kind().filter(|kind| Self::is_paid(*kind));
            let payment = payments.next_if(|(paid, _)| paid == place);
            let paid = payment.map(|(_, kind)| self.budget.paid(Some(*kind)));
            let account = self.account(*place);
            // Its first attempt was in an earlier run.
            if account.verdict.is_none() {
                account.call = Call::after(1);
            }
            account.call.followed = kind;
            match paid {
                Some(paid) => account.paid = paid,
                None if kind.is_none() => {}
                None => {
                    account.refused = Some(Reason::Budget);
                    unpaid.push(*place);
                }
            }
        }
        unpaid
    }
}

impl Execution<'_> {
    /// The call as it is in this attempt, for what is reported about it.
    fn call(self) -> Call {
        Call::new().at(self.attempt)
    }
}
