//! The rules of every call.
//!
//! | rule | why |
//! |---|---|
//! | The breaker is asked before any wait, and passed after it. | Don't queue for a server that is down; check again after the wait, because it may have gone down in the meantime. |
//! | A payment is spent when the attempt starts. If the call ends before, the payment is refunded. | A retry that was never made cost the server nothing. |
//! | If an attempt never starts, its slot and cost are refunded, and neither breaker nor limiter counts a failure. | The limiter's capacity is for requests that are sent, and nothing was learned about the server. |
//! | An attempt counts once the breaker has admitted it. | A local rejection is not evidence about the server. |
//! | A rejected first attempt ends the call with the rejection, a later one with the last failure. | The failure is more useful. |
//! | A rejection is retried only if the policy has a section for it. It has its own count, and the payment is kept. | The attempt may still start. |
//! | A pause that ends after the deadline by more than a timer's [`grace`](crate::call::decide::grace) ends the call. | A timer's granularity is not the call's fault. |
//! | A pause that would end after the deadline does not start, regardless of what took the time since the decision. | No attempt could follow it. |
//! | If the deadline drops running attempts (plans, and batches that await), nothing starts after it, without grace. | A request would be sent only to be dropped. |
//! | A batch has one slot of the limiter, which costs one unit per item. Each item has its own permit and payment. | There is one request, and its items are metered. |
//! | A batch that fails or succeeds as a whole counts once for breaker and budget. | One request failed or succeeded. |
//! | A subtask of a plan is a call. The decision after its failure is made for the whole round. | Rounds pause together. |
//! | A value is a success for breaker and limiter, even if `until` or `validate` rejects it. | The server responded. |
//! | The budget is credited once per successful call, not per attempt. | It counts calls. |

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::task::Waker;
use core::time::Duration;

use crate::admission::{
    Admission, AdmissionControl, AttemptOutcome, BreakerState, Change, Changes, HALF_OPENED,
    Permit, UNCHANGED,
};
use crate::call::decide;
use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::protections::ProtectionRefs;
use crate::call::reporter::Reporter;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::stop::{Caused, Stop};
use crate::hedge::pushback::Pushback;
use crate::observe::event::{Event, EventData};
use crate::observe::reason::Reason;
use crate::observe::report::{reborrow, report};
use crate::observe::stopwatch::Stopwatch;
use crate::policy::schedule::limit;
use crate::time::moment::Moment;
use retry_classify::Cancelled;
use retry_classify::Kind;
use retry_classify::Verdict;
use retry_classify::macro_support::shown;
use retry_classify::{Rejected, RejectedBy};

/// The state that a call keeps between its steps.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is set by itself, by the step or the loop that knows it"
)]
pub(super) struct State {
    /// Allocated when needed, because most calls never fail.
    pub(super) past: Option<Box<Past>>,
    pub(super) held: Held,
    pub(super) next: Next,
    pub(super) deadline: Option<Moment>,
    /// The policy's `max`, if it is reported before any failure.
    pub(super) max: u32,
    pub(super) cost: u32,
    /// True if the budget paid for the attempt that is about to start.
    pub(super) is_paid: bool,
    /// True if the policy may retry rejections.
    pub(super) retries_rejections: bool,
    /// True if the call was cancelled. Stored, because a future must not be polled after it has completed.
    pub(super) is_cancelled: bool,
    /// True if the loop keeps the error or value, so that the call can end with it after its pause.
    pub(super) can_stop: bool,
    /// True if the loop itself has to wait between the limiter's admission and the breaker.
    pub(super) needs_ready: bool,
    /// True if the call is a batch, of which each item asks the breaker separately.
    pub(super) is_batch: bool,
}

#[derive(Default)]
pub(super) struct Past {
    pub(super) call: Call,
    /// The number of pauses after rejections.
    pub(super) rejections: u32,
    /// The times of the call's events.
    pub(super) stopwatch: Stopwatch,
    /// The start of the call, if a policy that is chosen later may limit its time.
    pub(super) began: Option<Moment>,
    /// The permits of the attempts in flight at the same time as the one in `held`, by number.
    pub(super) hedges: Vec<(u32, Held)>,
    /// The number of the attempt in `held`, once others are in flight.
    pub(super) first: u32,
    /// The number of the attempt whose value the call returns, if several were in flight.
    pub(super) won: Option<u32>,
}

/// The next step of a call.
#[derive(Debug, Default)]
pub(super) enum Next {
    /// Check the breaker, and enter the limiter's queue.
    #[default]
    Enter,
    /// Pause after a failure or a rejection, for the call's last delay.
    Pause,
    /// Wait for the limiter's admission.
    Turn,
    /// Report this wait in the queue, which is over.
    Waited(Duration),
    /// Wait for the loop itself. The limiter has admitted the attempt.
    Ready,
    /// Ask the breaker.
    Admit,
    /// Decide what follows this rejection.
    Rejected(RejectedBy),
    /// The attempt is running, so there is no next step.
    Begun,
    /// No attempt follows, for this reason.
    Over(Box<Stop>),
}

impl State {
    pub(super) fn call(&self) -> Call {
        match &self.past {
            Some(past) => past.call,
            None => Call::new().with_max(self.max),
        }
    }

    /// Returns true if the policy's `max` is unknown, because neither a failure nor a setter has provided it.
    pub(super) fn lacks_max(&self) -> bool {
        let call = self.call();
        !call.is_retried() && call.max_retries() == 0
    }

    pub(super) fn past(&mut self) -> &mut Past {
        let max = self.max;
        self.past.get_or_insert_with(|| {
            Box::new(Past {
                call: Call::new().with_max(max),
                ..Past::default()
            })
        })
    }

    #[cold]
    pub(super) fn take_stop(&mut self) -> Option<Stop> {
        match mem::take(&mut self.next) {
            Next::Over(stop) => Some(*stop),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn holds(&self) -> bool {
        let hedges = self.past.as_ref().map(|past| &past.hedges);
        self.is_paid || self.held.is_any() || hedges.is_some_and(|hedges| !hedges.is_empty())
    }
}

/// The rules. Not generic, so that a program contains one copy for all its loops.
pub(crate) struct Steps<'d> {
    pub(super) state: &'d mut State,
    pub(super) shared: ProtectionRefs<'d>,
    pub(super) now: &'d dyn Fn() -> Moment,
}

impl Steps<'_> {
    /// The call as reported with the current attempt. If several were in flight, that is the one that won.
    fn reported(&self, reporter: &Reporter<'_>) -> Call {
        let call = match reporter.max() {
            Some(max) if self.state.lacks_max() => self.state.call().with_max(max),
            _ => self.state.call(),
        };
        let won = self.state.past.as_ref().and_then(|past| past.won);
        won.map_or(call, |number| call.at(number))
    }

    /// Reports an event of the attempt with this number.
    fn report_at(&mut self, reporter: &mut Reporter<'_>, attempt: u32, data: EventData<'_>) {
        let name = reporter.name();
        let event = Event::new(&name, attempt, data);
        let mut unused = Stopwatch::new();
        let stopwatch = if reporter.needs_stopwatch() {
            &mut self.state.past().stopwatch
        } else {
            &mut unused
        };
        reporter.timed(self.now, stopwatch, |observe| report(&event, observe));
    }

    /// Reports an event of the current attempt.
    #[cold]
    #[inline(never)]
    pub(super) fn report(&mut self, reporter: &mut Reporter<'_>, data: EventData<'_>) {
        let attempt = self.reported(reporter).attempt();
        self.report_at(reporter, attempt, data);
    }

    /// Reports changes that the current attempt caused without an error, and that affect all calls.
    #[inline]
    pub(super) fn changed(&mut self, changes: Changes, reporter: &mut Reporter<'_>) {
        for change in changes.into_iter().flatten() {
            self.report_change(None, change, None, reporter);
        }
    }

    /// Reports a change. If a breaker opened, the event contains the error of the attempt.
    #[cold]
    fn report_change(
        &mut self,
        number: Option<u32>,
        change: Change,
        error: Option<&dyn fmt::Display>,
        reporter: &mut Reporter<'_>,
    ) {
        let error = error.map(shown);
        let error = error.as_ref().map(|error| error as _);
        let attempt = number.unwrap_or_else(|| self.reported(reporter).attempt());
        self.report_at(reporter, attempt, change.event(error));
    }

    #[inline(never)]
    pub(super) fn waits(&mut self, reporter: &mut Reporter<'_>) -> bool {
        match self.state.next {
            Next::Enter => self.enter(reporter),
            Next::Waited(waited) => {
                self.report(reporter, EventData::Waited { waited });
                self.turn(reporter);
            }
            Next::Admit => self.admit(reporter),
            _ => {}
        }
        !matches!(self.state.next, Next::Begun | Next::Over(_))
    }

    fn enter(&mut self, reporter: &mut Reporter<'_>) {
        let limiter = self.shared.limiter;
        let may_wait = limiter.is_some() || self.state.needs_ready;
        if may_wait && self.shared.breaker.is_some_and(AdmissionControl::is_open) {
            return self.reject(RejectedBy::Breaker);
        }
        if let Some(limiter) = limiter {
            let slot = &mut self.state.held.limiter;
            slot.enter(limiter, self.state.cost);
            let mut admission = slot.poll(limiter, Waker::noop());
            if admission != Admission::Admitted {
                // Ask again, because the limiter may have room by now. Cancellation is checked only if the attempt has
                // to wait.
                admission = slot.poll(limiter, Waker::noop());
            }
            if admission != Admission::Admitted {
                self.state.next = Next::Turn;
                if let Admission::Wait { ahead, at_least } = admission {
                    self.report(reporter, EventData::Waiting { ahead, at_least });
                }
                return;
            }
        }
        self.turn(reporter);
    }

    /// Called when the limiter has admitted the attempt.
    fn turn(&mut self, reporter: &mut Reporter<'_>) {
        if self.state.needs_ready {
            self.state.next = Next::Ready;
        } else {
            self.admit(reporter);
        }
    }

    fn admit(&mut self, reporter: &mut Reporter<'_>) {
        if self.state.is_batch {
            self.state.next = Next::Begun;
            return;
        }
        if let Err(by) = self.pass(reporter) {
            return self.reject(by);
        }
        if self.state.held.limiter.begin() {
            self.changed(HALF_OPENED, reporter);
        }
        self.report_started(reporter);
    }

    /// Asks the breaker. If it admits the attempt, spends the payment.
    pub(super) fn pass(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RejectedBy> {
        if let Some(breaker) = self.shared.breaker {
            let half_opens = self.state.held.pass(breaker);
            if half_opens.ok_or(RejectedBy::Breaker)? {
                self.changed(HALF_OPENED, reporter);
            }
        }
        self.state.is_paid = false;
        self.state.next = Next::Begun;
        Ok(())
    }

    pub(super) fn report_started(&mut self, reporter: &mut Reporter<'_>) {
        if reporter.is_observed() {
            self.report(reporter, EventData::Started);
        }
    }

    /// Returns the permits of the attempt, because it was rejected.
    #[cold]
    pub(super) fn reject(&mut self, by: RejectedBy) {
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        self.state.next = if self.state.retries_rejections {
            Next::Rejected(by)
        } else {
            Next::Over(Box::new(Stop::by(by)))
        };
    }

    pub(super) fn waited(&mut self, waited: Result<Duration, RejectedBy>) {
        self.state.is_cancelled |= waited == Err(RejectedBy::Cancelled);
        match waited {
            Ok(waited) => self.state.next = Next::Waited(waited),
            Err(by) => self.reject(by),
        }
    }

    /// Decides what follows a rejection. After a breaker's rejection, the attempt is not tried again before the breaker
    /// is half open.
    pub(super) fn rejected(
        &mut self,
        site: &Site<'_>,
        is_cancelled: bool,
        delays: Option<&mut dyn FnMut(u32) -> Duration>,
        reporter: &mut Reporter<'_>,
    ) {
        let Next::Rejected(by) = self.state.next else {
            return;
        };
        let breaker = self.shared.breaker.filter(|_| by == RejectedBy::Breaker);
        let half_open_in = breaker.and_then(AdmissionControl::half_open_in);
        let verdict = Verdict::retry(Kind::Rejected);
        let verdict = half_open_in.map_or(verdict, |wait| verdict.after(wait));
        let rejected = Rejected::new(by);
        let failure = Failure::new(site, verdict, &rejected).cancelled(is_cancelled);
        let mut failure = self.timed(failure);
        failure.delays = delays.map(|delays| delays as _);
        let past = self.state.past();
        let next = reporter.timed(self.now, &mut past.stopwatch, |mut observe| {
            let failure = failure.lend().observed_by(reborrow(&mut observe));
            past.call.rejected(&mut past.rejections, by, failure)
        });
        self.state.can_stop = true;
        self.state.next = match next {
            Ok(_) => Next::Pause,
            Err(by) => Next::Over(Box::new(Stop::by(by))),
        };
    }

    pub(super) fn paused(&mut self, pause: Duration, is_cancelled: bool) {
        self.state.is_cancelled |= is_cancelled;
        let is_late = || decide::late(self.state.deadline, pause, self.now);
        self.state.next = if !self.state.can_stop {
            Next::Enter
        } else if is_cancelled {
            Next::Over(Box::new(Stop::by(RejectedBy::Cancelled)))
        } else if is_late().is_some() {
            Next::Over(Box::new(Stop::by(RejectedBy::Deadline)))
        } else {
            Next::Enter
        };
    }

    pub(super) fn hooked(&mut self, cause: Option<String>) {
        let (deadline, pause) = (self.state.deadline, self.state.call().last_delay());
        let late = match self.state.next {
            _ if cause.is_some() => None,
            // The hook ran before the pause.
            Next::Pause => decide::outlasts(deadline, pause, self.now),
            _ => decide::late(deadline, pause, self.now),
        };
        let late = late.map(|_| Stop::by(RejectedBy::Deadline));
        if let Some(stop) = cause.map(Stop::hook).or(late) {
            self.state.next = Next::Over(Box::new(stop));
        }
    }

    #[inline(never)]
    pub(super) fn ok(&mut self, reporter: &mut Reporter<'_>) {
        self.answered(reporter);
        self.succeeded(reporter);
    }

    pub(super) fn answered(&mut self, reporter: &mut Reporter<'_>) {
        // Handled separately, because most calls have only one of them.
        let (shared, outcome) = (self.shared, AttemptOutcome::Success);
        if self.state.held.breaker.is_held() {
            let changes = self.state.held.breaker.leave(shared.breaker, outcome);
            self.changed(changes, reporter);
        }
        if self.state.held.limiter.is_held() {
            let changes = self.state.held.limiter.leave(shared.limiter, outcome);
            self.changed(changes, reporter);
        }
    }

    pub(super) fn succeeded(&mut self, reporter: &mut Reporter<'_>) {
        self.report_success(reporter);
        self.credit_success();
    }

    pub(super) fn credit_success(&mut self) {
        if let Some(budget) = self.shared.budget {
            match &self.state.past {
                Some(past) => past.call.credit(budget),
                None => {
                    budget.called();
                    budget.succeeded(None);
                }
            }
        }
    }

    /// Reports a success to the observer, and to the log if something failed before.
    pub(super) fn report_success(&mut self, reporter: &mut Reporter<'_>) {
        if self.state.past.is_some() || reporter.is_observed() {
            let call = self.reported(reporter);
            if call.is_retried() || reporter.is_observed() {
                self.report_at(reporter, call.attempt(), call.success());
            }
        }
    }

    #[inline(never)]
    pub(super) fn failed(&mut self, failure: Failure<'_>, reporter: &mut Reporter<'_>) -> Decision {
        if let Some(past) = &mut self.state.past {
            past.won = None;
        }
        self.record_failure(&failure, None, reporter);
        self.decide(failure, reporter)
    }

    /// Reports a failed attempt to the breaker and the limiter. If several were in flight, it is the one with this
    /// number.
    pub(super) fn record_failure(
        &mut self,
        failure: &Failure<'_>,
        number: Option<u32>,
        reporter: &mut Reporter<'_>,
    ) {
        let outcome = AttemptOutcome::of_failure(failure.verdict);
        let changes = self.state.held.leave(self.shared, outcome);
        for change in changes.into_iter().flatten().flatten() {
            self.report_change(number, change, Some(failure.error), reporter);
        }
    }

    /// Decides what follows a failure that the breaker and the limiter have already recorded.
    fn decide(&mut self, failure: Failure<'_>, reporter: &mut Reporter<'_>) -> Decision {
        self.refund();
        self.state.can_stop = failure.inputs.is_kept;
        let mut failure = self.timed(self.limited(failure));
        let budget = self.shared.budget;
        let past = self.state.past();
        let decision = reporter.timed(self.now, &mut past.stopwatch, |mut observe| {
            let failure = failure.lend().paid_by(budget);
            past.call
                .failed_with(failure.observed_by(reborrow(&mut observe)))
        });
        self.state.is_paid = decision.is_ok() && budget.is_some();
        if decision.is_ok() {
            self.state.next = Next::Pause;
        }
        decision
    }

    /// Adds the time spent and the deadline to the failure.
    fn timed<'f>(&self, failure: Failure<'f>) -> Failure<'f> {
        let began = self.state.past.as_ref().and_then(|past| past.began);
        let failure = failure.deadline(self.state.deadline, self.now);
        match began {
            Some(began) => failure.elapsed((self.now)().since(began)),
            None => failure,
        }
    }

    /// Marks the failure if a limiter handles throttled retries, so that the budget need not pay for them.
    pub(super) fn limited<'f>(&self, failure: Failure<'f>) -> Failure<'f> {
        let limiter = self.shared.limiter;
        failure.limited(limiter.is_some_and(AdmissionControl::handles_throttling))
    }

    pub(super) fn hedge(
        &mut self,
        slow: Failure<'_>,
        delay: Duration,
        pushback: Pushback,
        reporter: &mut Reporter<'_>,
    ) -> Option<u32> {
        let mut slow = slow.deadline(self.state.deadline, self.now);
        let (shared, cost) = (self.shared, self.state.cost);
        let past = self.state.past();
        if !past.call.may_hedge(&slow, pushback) {
            return None;
        }
        let number = past.call.attempt().saturating_add(1);
        if past.first == 0 {
            past.first = number - 1;
        }
        // Stored before user code runs: if that panics, the driver releases it.
        past.hedges.push((number, Held::default()));
        let Past {
            call,
            hedges,
            stopwatch,
            ..
        } = past;
        let (_, held) = hedges.last_mut()?;
        let begins = reporter.timed(self.now, stopwatch, |mut observe| {
            let half_opened = || {
                let event = Event::new(slow.site.name(), number, EventData::BreakerHalfOpened);
                report(&event, reborrow(&mut observe));
            };
            held.begin_hedge(shared, cost, half_opened) && {
                let slow = slow.lend().paid_by(shared.budget);
                call.hedges(slow.observed_by(reborrow(&mut observe)), delay)
            }
        });
        if begins {
            held.limiter.begin();
            return Some(number);
        }
        held.leave(shared, AttemptOutcome::Dropped);
        hedges.pop();
        None
    }

    /// Moves the permits of the attempt with this number into `held`.
    fn turn_to(&mut self, number: u32) {
        let State { past, held, .. } = &mut *self.state;
        let Some(past) = past else { return };
        if let Some((other, hedge)) = past.hedges.iter_mut().find(|(other, _)| *other == number) {
            mem::swap(held, hedge);
            mem::swap(&mut past.first, other);
        }
    }

    pub(super) fn hedge_failed(
        &mut self,
        failure: Failure<'_>,
        number: u32,
        pushback: &mut Pushback,
        reporter: &mut Reporter<'_>,
    ) -> bool {
        if failure.verdict.kind().is_some() {
            self.turn_to(number);
            self.record_failure(&failure, Some(number), reporter);
        }
        let (budget, mut failure) = (self.shared.budget, self.limited(failure));
        let past = self.state.past();
        reporter.timed(self.now, &mut past.stopwatch, |mut observe| {
            let failure = failure
                .lend()
                .paid_by(budget)
                .observed_by(reborrow(&mut observe));
            past.call.failed_beside(failure, number, pushback)
        })
    }

    #[cold]
    pub(super) fn hedges_ended(&mut self, number: u32, is_value: bool) {
        self.turn_to(number);
        let past = self.state.past();
        past.first = 0;
        past.won = is_value.then_some(number);
        self.leave_hedges();
    }

    pub(super) fn stopped(
        &mut self,
        stop: &Stop,
        error: &dyn fmt::Display,
        ending: Ending,
        reporter: &mut Reporter<'_>,
    ) {
        self.give_back();
        let call = self.reported(reporter);
        let caused = stop.cause.as_ref().map(|cause| Caused(error, cause));
        let error = caused.as_ref().map_or(error, |caused| caused as _);
        let error = &shown(error);
        let (attempt, data) = call.end_after_pause(error, stop.values, ending, stop.reason());
        self.report_at(reporter, attempt, data);
    }

    pub(super) fn aborted(&mut self, reporter: &mut Reporter<'_>) {
        if matches!(self.state.next, Next::Begun) {
            self.give_back();
            let call = self.reported(reporter);
            let (attempts, error) = (call.attempts(), &shown(Cancelled::new()));
            let data = call.end(attempts, error, None, Reason::Cancelled, Ending::Error);
            self.report_at(reporter, call.attempt(), data);
        } else {
            let stop = Stop::by(RejectedBy::Cancelled);
            self.stopped(&stop, &Cancelled::new(), Ending::Error, reporter);
        }
    }

    /// Reports the end of the fallback, after this number of attempts.
    pub(super) fn fell_back(
        &mut self,
        attempts: u32,
        ended_with: Result<(), &dyn fmt::Display>,
        reporter: &mut Reporter<'_>,
    ) {
        let call = self.reported(reporter);
        let error = ended_with.err().map(shown);
        let data = match &error {
            Some(error) => call.end(attempts, error, None, Reason::FallbackFailed, Ending::Error),
            None => EventData::FellBack {
                corrections: call.corrections,
                max: limit(call.max),
            },
        };
        self.report_at(reporter, attempts, data);
    }

    pub(super) fn restart(&mut self, lasted: Duration) {
        let past = self.state.past();
        past.call = past.call.restarted(lasted);
        past.rejections = 0;
    }

    pub(super) fn credit(&mut self) {
        if let Some(budget) = self.shared.budget {
            let call = &mut self.state.past().call;
            *call = call.credited(budget);
        }
    }

    /// Releases everything that the call holds.
    #[cold]
    #[inline(never)]
    pub(super) fn give_back(&mut self) {
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        self.leave_hedges();
        self.refund();
    }

    fn leave_hedges(&mut self) {
        let hedges = self
            .state
            .past
            .iter_mut()
            .flat_map(|past| past.hedges.drain(..));
        for (_, mut held) in hedges {
            held.leave(self.shared, AttemptOutcome::Dropped);
        }
    }

    /// Refunds the payment for an attempt that has not started.
    fn refund(&mut self) {
        if !mem::take(&mut self.state.is_paid) {
            return;
        }
        if let (Some(budget), Some(kind)) = (self.shared.budget, self.state.call().last_retry_kind)
        {
            budget.refund(kind);
        }
    }
}

/// The permits that one attempt holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(super) breaker: Slot,
    pub(super) limiter: Slot,
}

/// A permit of a breaker or a limiter, if the attempt has one.
#[derive(Debug, Default)]
pub(super) struct Slot {
    permit: Option<Permit>,
    stage: Stage,
}

/// The stage of the attempt with its permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waits,
    Admitted,
    Begun,
}

impl Slot {
    #[inline]
    pub(super) const fn is_held(&self) -> bool {
        self.permit.is_some()
    }

    /// Joins the queue.
    pub(super) fn enter(&mut self, control: &dyn AdmissionControl, cost: u32) {
        self.stage = Stage::Waits;
        self.permit = Some(control.enter(cost));
    }

    /// Asks for admission. Returns at once if the attempt is already admitted, as after a dropped wait that was over.
    /// `waker` is woken when it should ask again.
    pub(super) fn poll(&mut self, control: &dyn AdmissionControl, waker: &Waker) -> Admission {
        let admission = match (&mut self.permit, self.stage) {
            (Some(permit), Stage::Waits) => control.poll(permit, waker),
            _ => return Admission::Admitted,
        };
        if admission == Admission::Admitted {
            self.stage = Stage::Admitted;
        }
        admission
    }

    /// Marks the attempt as started: its permit is then no longer returned as [`NotBegun`](AttemptOutcome::NotBegun).
    /// Returns true if the attempt is a breaker's first trial call.
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        self.stage = Stage::Begun;
        self.permit.as_ref().is_some_and(Permit::half_opens)
    }

    /// Returns the permit, if it was not returned before. If the attempt has not started, its charge is refunded.
    pub(super) fn leave(
        &mut self,
        control: Option<&dyn AdmissionControl>,
        outcome: AttemptOutcome,
    ) -> Changes {
        let outcome = match self.stage {
            Stage::Waits | Stage::Admitted => AttemptOutcome::NotBegun,
            Stage::Begun => outcome,
        };
        match (self.permit.take(), control) {
            (Some(permit), Some(control)) => control.leave(permit, outcome),
            _ => UNCHANGED,
        }
    }
}

impl Held {
    #[inline]
    pub(super) const fn is_any(&self) -> bool {
        self.breaker.is_held() || self.limiter.is_held()
    }

    /// Asks the breaker immediately before the attempt, without waiting. Returns true if the attempt is its first trial
    /// call. `None` if it rejects the attempt.
    pub(super) fn pass(&mut self, breaker: &dyn AdmissionControl) -> Option<bool> {
        let slot = &mut self.breaker;
        slot.enter(breaker, 1);
        if slot.poll(breaker, Waker::noop()) != Admission::Admitted {
            slot.leave(Some(breaker), AttemptOutcome::NotBegun);
            return None;
        }
        Some(slot.begin())
    }

    /// Takes the permits of an attempt that starts next to a slow one, without waiting. Returns false if they are not
    /// available. No attempt starts next to a trial call, so a half-open breaker admits none.
    pub(super) fn begin_hedge(
        &mut self,
        shared: ProtectionRefs<'_>,
        cost: u32,
        half_opened: impl FnOnce(),
    ) -> bool {
        let mut controls = [shared.breaker, shared.limiter].into_iter().flatten();
        if !controls.all(is_closed) {
            return false;
        }
        match shared.breaker.map(|breaker| self.pass(breaker)) {
            Some(None) => return false,
            Some(Some(true)) => half_opened(),
            Some(Some(false)) | None => {}
        }
        shared.limiter.is_none_or(|limiter| {
            self.limiter.enter(limiter, cost);
            self.limiter.poll(limiter, Waker::noop()) == Admission::Admitted
        })
    }

    /// Returns both permits. For an attempt that does not start, pass `Dropped`.
    fn leave(&mut self, shared: ProtectionRefs<'_>, outcome: AttemptOutcome) -> [Changes; 2] {
        [
            self.breaker.leave(shared.breaker, outcome),
            self.limiter.leave(shared.limiter, outcome),
        ]
    }
}

/// Returns true unless this is a breaker that is open or half open.
fn is_closed(control: &dyn AdmissionControl) -> bool {
    matches!(
        control.state().circuit,
        None | Some(BreakerState::Closed | BreakerState::ForcedClosed)
    )
}
