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
//! | A pause that ends after the deadline by more than a timer's [`grace`](crate::call::late::grace) ends the call. | A timer's granularity is not the call's fault. |
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

use retry_classify::RejectedBy;

use crate::admission::change::{Changes, HALF_OPENED, UNCHANGED};
use crate::admission::outcome::AttemptOutcome;
use crate::admission::{Admission, AdmissionControl};
use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::held::Held;
use crate::call::hook::Caused;
use crate::call::late;
use crate::call::protections::Protects;
use crate::call::rejection::Rejections;
use crate::call::reporter::{Reporter, Times};
use crate::call::state::Call;
use crate::call::stop::Stop;
use crate::hedge::pushback::Pushback;
use crate::observe::{Event, EventData, Observe, Reason, Stopwatch, reborrow, report};
use crate::policy::values::Values;
use crate::time::Moment;

/// The state that a call keeps between its steps.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is set by itself, by the step or the loop that knows it"
)]
pub(super) struct State {
    /// Most calls never fail, so they never need it.
    pub(super) past: Option<Box<Past>>,
    /// The times of events. Only calls with an observer need them.
    pub(super) stopwatch: Option<Box<Stopwatch>>,
    pub(super) held: Held,
    pub(super) next: Next,
    pub(super) deadline: Option<Moment>,
    /// The policy's `max`, if it is reported before any failure.
    pub(super) max: u32,
    pub(super) cost: u32,
    /// True if the budget paid for the attempt that is about to begin.
    pub(super) is_paid: bool,
    /// True if the policy may retry rejections.
    pub(super) retries_rejections: bool,
    /// True if the call was cancelled. A future must not be polled after it has completed.
    pub(super) is_cancelled: bool,
    /// True if the loop keeps the error or value, so that the call can end with it after its pause.
    pub(super) can_stop: bool,
    /// True if the loop waits for something of its own between the limiter's admission and the breaker.
    pub(super) needs_ready: bool,
    /// True if each item of the call asks the breaker by itself.
    pub(super) is_batch: bool,
}

#[derive(Default)]
pub(super) struct Past {
    pub(super) call: Call,
    pub(super) rejections: Rejections,
    /// The last wait in the limiter's queue.
    pub(super) waited: Duration,
    /// The start of the call, if a policy that is chosen later may limit its time.
    pub(super) began: Option<Moment>,
    /// The permits of the attempts in flight at the same time as the one in `held`, by number.
    pub(super) hedges: Vec<(u32, Held)>,
    /// The number of the attempt in `held`, once others are in flight.
    pub(super) first: u32,
    /// The number of the attempt whose value the call returns, if several were in flight.
    pub(super) won: Option<u32>,
}

/// The next step before the call's attempt.
#[derive(Debug, Default)]
pub(super) enum Next {
    /// The breaker and the limiter's queue.
    #[default]
    Enter,
    /// The pause after a failure or a rejection, which is the call's last delay.
    Pause,
    /// The limiter's admission.
    Turn,
    /// The breaker, after a wait in the queue.
    Waited,
    /// The loop's own wait, once the limiter has admitted the attempt.
    Ready,
    /// The breaker.
    Admit,
    /// The decision after a rejection.
    Rejected(RejectedBy),
    /// The attempt runs.
    Begun,
    /// No attempt follows.
    Over(Box<Stop>),
}

impl State {
    pub(super) fn call(&self) -> Call {
        match &self.past {
            Some(past) => past.call,
            None => Call::new().with_max(self.max),
        }
    }

    /// The call with the policy's `max`, as seen by the winning attempt if several were in flight.
    pub(super) fn call_as_reported(&self, reporter: &dyn Reporter) -> Call {
        let call = match reporter.max() {
            Some(max) if self.lacks_max() => self.call().with_max(max),
            _ => self.call(),
        };
        let won = self.past.as_ref().and_then(|past| past.won);
        won.map_or(call, |number| call.at(number))
    }

    /// Returns true if neither a failure nor a setter has brought the policy's `max`.
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

    pub(super) fn past_and_stopwatch(&mut self) -> (&mut Past, &mut Option<Box<Stopwatch>>) {
        self.past();
        let Self {
            past, stopwatch, ..
        } = self;
        match past {
            Some(past) => (past, stopwatch),
            None => unreachable!("it was just made"),
        }
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
        self.is_paid
            || self.held.is_any()
            || self
                .past
                .as_ref()
                .is_some_and(|past| !past.hedges.is_empty())
    }
}

/// The rules. Not generic: a program contains one copy for all its loops.
pub(crate) struct Steps<'d> {
    pub(super) state: &'d mut State,
    pub(super) shared: &'d dyn Protects,
    pub(super) now: &'d dyn Fn() -> Moment,
}

impl Steps<'_> {
    /// Reports under the call's name.
    pub(super) fn report(
        &mut self,
        reporter: &mut dyn Reporter,
        mut report: impl FnMut(&Call, &str, Option<Observe<'_>>),
    ) {
        let call = self.state.call_as_reported(reporter);
        let times = &mut Times::new(self.now, &mut self.state.stopwatch);
        reporter.report(times, &mut |name, observe| report(&call, name, observe));
    }

    #[inline(never)]
    pub(super) fn waits(&mut self, reporter: &mut dyn Reporter) -> bool {
        match self.state.next {
            Next::Enter => self.enter(reporter),
            Next::Waited => {
                let waited = self.state.past().waited;
                self.report(reporter, |call, name, observe| {
                    call.waited(name, waited, observe);
                });
                self.turn(reporter);
            }
            Next::Admit => self.admit(reporter),
            _ => {}
        }
        !matches!(self.state.next, Next::Begun | Next::Over(_))
    }

    pub(super) fn enter(&mut self, reporter: &mut dyn Reporter) {
        let limiter = self.shared.limiter();
        let may_wait = limiter.is_some() || self.state.needs_ready;
        if may_wait && self.shared.breaker().is_some_and(AdmissionControl::is_open) {
            return self.reject(RejectedBy::Breaker);
        }
        if let Some(limiter) = limiter {
            let slot = &mut self.state.held.limiter;
            slot.enter(limiter, self.state.cost);
            let mut admission = slot.poll(limiter, Waker::noop());
            if admission != Admission::Admitted {
                // The limiter may have admitted the attempt in the meantime: cancellation is checked only when it has
                // to wait.
                admission = slot.poll(limiter, Waker::noop());
            }
            if admission != Admission::Admitted {
                self.state.next = Next::Turn;
                if let Admission::Wait { ahead, at_least } = admission {
                    let waiting = EventData::Waiting { ahead, at_least };
                    self.report(reporter, |call, name, observe| {
                        report(&Event::new(name, call.attempt(), waiting), observe);
                    });
                }
                return;
            }
        }
        self.turn(reporter);
    }

    /// Called when the limiter has admitted the attempt.
    pub(super) fn turn(&mut self, reporter: &mut dyn Reporter) {
        if self.state.needs_ready {
            self.state.next = Next::Ready;
        } else {
            self.admit(reporter);
        }
    }

    pub(super) fn admit(&mut self, reporter: &mut dyn Reporter) {
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
        if reporter.is_observed() {
            self.report_started(reporter);
        }
    }

    /// Asks the breaker, and spends the payment.
    pub(super) fn pass(&mut self, reporter: &mut dyn Reporter) -> Result<(), RejectedBy> {
        if let Some(breaker) = self.shared.breaker() {
            let half_opens = self.state.held.pass(breaker);
            if half_opens.ok_or(RejectedBy::Breaker)? {
                self.changed(HALF_OPENED, reporter);
            }
        }
        self.state.is_paid = false;
        self.state.next = Next::Begun;
        Ok(())
    }

    pub(super) fn report_started(&mut self, reporter: &mut dyn Reporter) {
        self.report(reporter, |call, name, observe| {
            if let Some(observe) = observe {
                call.started(name, observe);
            }
        });
    }

    /// Rejects the attempt.
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
            Ok(waited) => {
                self.state.past().waited = waited;
                self.state.next = Next::Waited;
            }
            Err(by) => self.reject(by),
        }
    }

    pub(super) fn rejection(&self) -> Option<(RejectedBy, Option<Duration>)> {
        let Next::Rejected(by) = self.state.next else {
            return None;
        };
        let breaker = self.shared.breaker().filter(|_| by == RejectedBy::Breaker);
        Some((by, breaker.and_then(AdmissionControl::half_open_in)))
    }

    pub(super) fn rejected(&mut self, failure: Failure<'_>, reporter: &mut dyn Reporter) {
        let Some((by, _)) = self.rejection() else {
            return;
        };
        let mut failure = failure.deadline(self.state.deadline, self.now);
        let (past, stopwatch) = self.state.past_and_stopwatch();
        let mut next = Err(by);
        reporter.observe(&mut Times::new(self.now, stopwatch), &mut |mut observe| {
            let failure = failure.lend().observed_by(reborrow(&mut observe));
            next = past.rejections.retry(&mut past.call, by, failure);
        });
        self.state.can_stop = true;
        self.state.next = match next {
            Ok(_) => Next::Pause,
            Err(by) => Next::Over(Box::new(Stop::by(by))),
        };
    }

    pub(super) fn paused(&mut self, pause: Duration, is_cancelled: bool) {
        self.state.is_cancelled |= is_cancelled;
        self.state.next = match self.stop_after(pause, is_cancelled) {
            Some(by) => Next::Over(Box::new(Stop::by(by))),
            None => Next::Enter,
        };
    }

    /// The reason that no attempt follows after the pause.
    pub(super) fn stop_after(&self, pause: Duration, is_cancelled: bool) -> Option<RejectedBy> {
        if !self.state.can_stop {
            return None;
        }
        if is_cancelled {
            return Some(RejectedBy::Cancelled);
        }
        late::late(self.state.deadline, pause, self.now).map(|_| RejectedBy::Deadline)
    }

    pub(super) fn hooked(&mut self, cause: Option<String>) {
        let pause = self.state.call().last_delay();
        let by = match (&cause, &self.state.next) {
            (Some(_), _) => None,
            // Checked before the pause.
            (None, Next::Pause) => late::outlasts(self.state.deadline, pause, self.now),
            (None, _) => late::late(self.state.deadline, pause, self.now),
        };
        if let Some(cause) = cause {
            self.state.next = Next::Over(Box::new(Stop::hook(cause)));
        } else if by.is_some() {
            self.state.next = Next::Over(Box::new(Stop::by(RejectedBy::Deadline)));
        }
    }

    #[inline(never)]
    pub(super) fn ok(&mut self, reporter: &mut dyn Reporter) {
        self.answered(reporter);
        self.succeeded(reporter);
    }

    pub(super) fn answered(&mut self, reporter: &mut dyn Reporter) {
        // One after the other, because most calls that succeed have only one of them.
        let (shared, outcome) = (self.shared, AttemptOutcome::Success);
        if self.state.held.breaker.is_held() {
            let changes = self.state.held.breaker.leave(shared.breaker(), outcome);
            self.changed(changes, reporter);
        }
        if self.state.held.limiter.is_held() {
            let changes = self.state.held.limiter.leave(shared.limiter(), outcome);
            self.changed(changes, reporter);
        }
    }

    pub(super) fn report_success_if_any(&mut self, reporter: &mut dyn Reporter) {
        if self.state.past.is_some() || reporter.is_observed() {
            self.report_success(reporter);
        }
    }

    pub(super) fn succeeded(&mut self, reporter: &mut dyn Reporter) {
        self.report_success_if_any(reporter);
        self.credit_success();
    }

    pub(super) fn credit_success(&mut self) {
        if let Some(budget) = self.shared.budget() {
            match &self.state.past {
                Some(past) => past.call.credit(budget),
                None => {
                    budget.called();
                    budget.succeeded(None);
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn report_success(&mut self, reporter: &mut dyn Reporter) {
        self.report(reporter, |call, name, observe| match observe {
            Some(observe) => call.report_success(name, observe),
            None if call.is_retried() => call.healed(name, None),
            None => {}
        });
    }

    #[inline(never)]
    pub(super) fn failed(&mut self, failure: Failure<'_>, reporter: &mut dyn Reporter) -> Decision {
        if let Some(past) = &mut self.state.past {
            past.won = None;
        }
        self.record_failure(&failure, None, reporter);
        self.decide(failure, reporter)
    }

    /// Reports a failed attempt to the breaker and the limiter: the one with this number, if several were in flight.
    pub(super) fn record_failure(
        &mut self,
        failure: &Failure<'_>,
        number: Option<u32>,
        reporter: &mut dyn Reporter,
    ) {
        let call = self.state.call();
        let call = number.map_or(call, |number| call.at(number));
        let outcome = AttemptOutcome::of_failure(failure.verdict);
        let all = self.state.held.leave(self.shared, outcome);
        if all == [UNCHANGED; 2] {
            return;
        }
        let times = &mut Times::new(self.now, &mut self.state.stopwatch);
        reporter.report(times, &mut |name, mut observe| {
            for changes in all {
                call.changed(name, changes, Some(failure.error), reborrow(&mut observe));
            }
        });
    }

    /// Decides what follows a failure that the breaker and the limiter have already recorded.
    pub(super) fn decide(&mut self, failure: Failure<'_>, reporter: &mut dyn Reporter) -> Decision {
        self.refund();
        self.state.can_stop = failure.inputs.is_kept;
        let mut failure = failure.deadline(self.state.deadline, self.now);
        let (budget, is_limited) = (self.shared.budget(), self.handles_throttling());
        let (past, stopwatch) = self.state.past_and_stopwatch();
        past.rejections.is_last = false;
        let mut decision = Err(Reason::Exhausted);
        reporter.observe(&mut Times::new(self.now, stopwatch), &mut |mut observe| {
            let failure = failure.lend().limited(is_limited).paid_by(budget);
            decision = past
                .call
                .failed_with(failure.observed_by(reborrow(&mut observe)));
        });
        self.state.is_paid = decision.is_ok() && budget.is_some();
        if decision.is_ok() {
            self.state.next = Next::Pause;
        }
        decision
    }

    /// Returns true if a limiter handles throttled retries, so that the budget need not pay for them.
    pub(super) fn handles_throttling(&self) -> bool {
        let limiter = self.shared.limiter();
        limiter.is_some_and(AdmissionControl::handles_throttling)
    }

    pub(super) fn hedge(
        &mut self,
        slow: Failure<'_>,
        delay: Duration,
        pushback: Pushback,
        reporter: &mut dyn Reporter,
    ) -> Option<u32> {
        let (shared, now) = (self.shared, self.now);
        let mut slow = slow.deadline(self.state.deadline, now);
        let cost = self.state.cost;
        let (past, stopwatch) = self.state.past_and_stopwatch();
        if !past.call.may_hedge(&slow, pushback) {
            return None;
        }
        let number = past.call.attempt().saturating_add(1);
        if past.first == 0 {
            past.first = number - 1;
        }
        // Stored before user code runs: if that panics, the driver releases it.
        past.hedges.push((number, Held::default()));
        let Past { call, hedges, .. } = past;
        let (_, held) = hedges.last_mut()?;
        let mut begins = false;
        reporter.observe(&mut Times::new(now, stopwatch), &mut |mut observe| {
            let slow = slow.lend().paid_by(shared.budget());
            let mut slow = slow.observed_by(reborrow(&mut observe));
            begins = held.begin_hedge(shared, cost, || {
                let (name, observe) = (slow.site.name(), reborrow(&mut slow.observe));
                call.at(number).changed(name, HALF_OPENED, None, observe);
            }) && call.hedges(slow, delay);
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
    pub(super) fn turn_to(&mut self, number: u32) {
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
        reporter: &mut dyn Reporter,
    ) -> bool {
        if failure.verdict.kind().is_some() {
            self.turn_to(number);
            self.record_failure(&failure, Some(number), reporter);
        }
        let (budget, is_limited) = (self.shared.budget(), self.handles_throttling());
        let mut failure = failure.limited(is_limited);
        let (past, stopwatch) = self.state.past_and_stopwatch();
        let mut goes_on = false;
        reporter.observe(&mut Times::new(self.now, stopwatch), &mut |mut observe| {
            let failure = failure.lend().paid_by(budget);
            let failure = failure.observed_by(reborrow(&mut observe));
            goes_on = past.call.failed_beside(failure, number, pushback);
        });
        goes_on
    }

    #[cold]
    pub(super) fn hedges_ended(&mut self, number: u32, is_value: bool) {
        self.turn_to(number);
        let past = self.state.past();
        past.first = 0;
        past.won = is_value.then_some(number);
        for (_, mut held) in past.hedges.drain(..) {
            held.leave(self.shared, AttemptOutcome::Dropped);
        }
    }

    pub(super) fn stopped(
        &mut self,
        stop: &Stop,
        error: &dyn fmt::Display,
        values: Values,
        ending: Ending,
        reporter: &mut dyn Reporter,
    ) {
        self.give_back();
        let caused;
        let error = match &stop.cause {
            Some(cause) => {
                caused = Caused(error, cause);
                &caused as &dyn fmt::Display
            }
            None => error,
        };
        self.report(reporter, |call, name, observe| {
            call.ended_after_pause(name, error, values, ending, stop.reason(), observe);
        });
    }

    pub(super) fn aborted(&mut self, reporter: &mut dyn Reporter) {
        let is_under_way = matches!(self.state.next, Next::Begun);
        self.give_back();
        self.report(reporter, |call, name, observe| {
            call.aborted(name, is_under_way, observe);
        });
    }

    pub(super) fn fell_back(
        &mut self,
        attempts: u32,
        ended_with: Result<(), &dyn fmt::Display>,
        reporter: &mut dyn Reporter,
    ) {
        self.report(reporter, |call, name, observe| {
            call.fallback_ended(name, attempts, ended_with, observe);
        });
    }

    pub(super) fn restart(&mut self, lasted: Duration) {
        let past = self.state.past();
        past.call = past.call.restarted(lasted);
        past.rejections = Rejections::new();
    }

    pub(super) fn credit(&mut self) {
        if let Some(budget) = self.shared.budget() {
            let call = &mut self.state.past().call;
            *call = call.credited(budget);
        }
    }

    /// Reports the state changes caused by an attempt without an error.
    #[inline]
    pub(super) fn changed(&mut self, changes: Changes, reporter: &mut dyn Reporter) {
        if !matches!(changes, [None, None]) {
            self.report(reporter, |call, name, observe| {
                call.changed(name, changes, None, observe);
            });
        }
    }

    /// Releases everything that the call holds.
    #[cold]
    #[inline(never)]
    pub(super) fn give_back(&mut self) {
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        if let Some(past) = &mut self.state.past {
            for (_, mut held) in past.hedges.drain(..) {
                held.leave(self.shared, AttemptOutcome::Dropped);
            }
        }
        self.refund();
    }

    /// Refunds the payment for an attempt that has not started.
    pub(super) fn refund(&mut self) {
        if !mem::take(&mut self.state.is_paid) {
            return;
        }
        if let (Some(budget), Some(kind)) =
            (self.shared.budget(), self.state.call().last_retry_kind)
        {
            budget.refund(kind);
        }
    }
}
