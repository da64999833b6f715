//! The rules of every call.
//!
//! | rule | why |
//! |---|---|
//! | The breaker is checked before any wait, and again after it. | Don't queue for a server that is down; it may also have gone down during the wait. |
//! | A payment is spent when the attempt starts. If the call ends first, the payment is refunded. | A retry that was never made cost the server nothing. |
//! | If an attempt never starts, its permits are returned and its cost is refunded. Neither breaker nor limiter counts a failure. | The limiter's capacity is for requests that are sent, and nothing was learned about the server. |
//! | An attempt counts once the breaker has admitted it. | A local rejection is not evidence about the server. |
//! | A rejected first attempt ends the call with the rejection, a later one with the last failure. | The failure is more useful. |
//! | A rejection is retried only if the policy has a section for it. Such retries have their own count, and the payment is kept. | The attempt may still start. |
//! | A pause that ends after the deadline by more than a timer's [`grace`] ends the call. | A timer's granularity is not the call's fault. |
//! | A pause that would end after the deadline does not start, even if time was lost only after the decision. | No attempt could follow it. |
//! | If the deadline drops running attempts (`total_timeout`, plans, and batches that await), nothing starts after it, without grace. | A request would be sent only to be dropped. |
//! | A batch has one permit of the limiter, which costs one unit per item. Each item has its own permit of the breaker and its own payment. | A batch is one request, but its items are metered. |
//! | A batch that fails or succeeds as a whole counts once for breaker and budget. | One request failed or succeeded. |
//! | A subtask of a plan is a call. The decision after its failure is made for the whole round. | The subtasks of a round pause together. |
//! | A value is a success for breaker and limiter, even if `until` or `validate` rejects it. | The server responded. |
//! | The budget is credited once per successful call, not per attempt. | It counts calls. |

mod hedges;
mod outcome;
mod permits;
mod state;

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::task::Waker;
use core::time::Duration;

use retry_classify::macro_support::shown;
use retry_classify::{Kind, Rejected, RejectedBy, Verdict};

use crate::admission::{Admission, AdmissionControl, AttemptOutcome, Changes, HALF_OPENED};
use crate::call::{Call, Ending, Failure, ProtectionRefs, Reporter, Stop, WithCause};
use crate::observe::{Event, EventData, Reason, Stopwatch, report};
use crate::policy::schedule::limit;
use crate::site::Site;
use crate::time::Moment;

pub(super) use permits::Slot;
pub(super) use state::{Next, State};

/// The rules. Not generic, so that a program contains one copy for all its loops. This file contains the reports and
/// the steps before an attempt.
pub(crate) struct Steps<'d, 'r> {
    pub(super) state: &'d mut State,
    pub(super) shared: ProtectionRefs<'d>,
    pub(super) now: &'d dyn Fn() -> Moment,
    pub(super) reporter: &'d mut Reporter<'r>,
}

/// Reports.
impl Steps<'_, '_> {
    /// The call's state for reports about the current attempt or, after concurrent attempts, about the one that won.
    fn reported_call(&self) -> Call {
        let (call, policy) = (self.state.call(), self.reporter.policy);
        let call = policy.map_or(call, |policy| call.with_max_of(policy));
        let won = self.state.past.as_ref().and_then(|past| past.winner);
        won.map_or(call, |number| call.for_attempt(number))
    }

    /// Reports an event of the attempt with this number.
    fn report_at(&mut self, attempt: u32, data: EventData<'_>) {
        let name = self.reporter.name();
        let event = Event::new(&name, attempt, data);
        let mut unused = Stopwatch::new();
        let stopwatch = if self.reporter.needs_stopwatch() {
            &mut self.state.past().stopwatch
        } else {
            &mut unused
        };
        self.reporter
            .timed(self.now, stopwatch, |observe| report(&event, observe));
    }

    /// Reports an event of the current attempt.
    #[cold]
    #[inline(never)]
    fn report(&mut self, data: EventData<'_>) {
        let current = self.state.past.as_ref().map_or(0, |past| past.current);
        let attempt = match current {
            0 => self.reported_call().attempt(),
            current => current,
        };
        self.report_at(attempt, data);
    }

    /// Reports changes of shared state that the current attempt caused. If a breaker opened, the event contains
    /// `error`.
    #[inline]
    fn report_changes(&mut self, changes: Changes, error: Option<&dyn fmt::Display>) {
        for change in changes.into_iter().flatten() {
            let error = error.map(shown);
            let error = error.as_ref().map(|error| error as _);
            self.report(change.event(error));
        }
    }

    fn report_started(&mut self) {
        if self.reporter.is_observed() {
            self.report(EventData::Started);
        }
    }
}

/// The steps before an attempt.
impl Steps<'_, '_> {
    #[inline(never)]
    pub(super) fn waits(&mut self) -> bool {
        match self.state.next {
            Next::Enter => self.enter(),
            Next::Waited(waited) => {
                self.report(EventData::Waited { waited });
                self.pass_limiter();
            }
            Next::Admit => self.admit(),
            _ => {}
        }
        !matches!(self.state.next, Next::Begun | Next::Stopped(_))
    }

    fn enter(&mut self) {
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
                // Poll again, because the limiter may have room by now. Cancellation is checked only if the attempt has
                // to wait.
                admission = slot.poll(limiter, Waker::noop());
            }
            if admission != Admission::Admitted {
                self.state.next = Next::Turn;
                if let Admission::Wait { ahead, at_least } = admission {
                    self.report(EventData::Waiting { ahead, at_least });
                }
                return;
            }
        }
        self.pass_limiter();
    }

    /// Called once the limiter, if any, has admitted the attempt.
    fn pass_limiter(&mut self) {
        if self.state.needs_ready {
            self.state.next = Next::Ready;
        } else {
            self.admit();
        }
    }

    fn admit(&mut self) {
        if self.state.is_batch {
            self.state.next = Next::Begun;
        } else if let Err(by) = self.pass_breaker() {
            self.reject(by);
        } else {
            self.begin(true);
        }
    }

    /// Polls the breaker once. If it admits the attempt, spends the payment.
    pub(super) fn pass_breaker(&mut self) -> Result<(), RejectedBy> {
        if let Some(breaker) = self.shared.breaker {
            let slot = &mut self.state.held.breaker;
            slot.enter(breaker, 1);
            if slot.poll(breaker, Waker::noop()) != Admission::Admitted {
                slot.leave(Some(breaker), AttemptOutcome::NotBegun);
                return Err(RejectedBy::Breaker);
            }
            // True for the breaker's first trial call.
            if slot.begin() {
                self.report_changes(HALF_OPENED, None);
            }
        }
        self.state.is_paid = false;
        self.state.next = Next::Begun;
        Ok(())
    }

    /// Starts the attempt: its cost is no longer refunded when its permit is returned.
    pub(super) fn begin(&mut self, is_reported: bool) {
        if self.state.held.limiter.begin() {
            self.report_changes(HALF_OPENED, None);
        }
        if is_reported {
            self.report_started();
        }
    }

    /// Returns the permits of the attempt, because it was rejected.
    #[cold]
    pub(super) fn reject(&mut self, by: RejectedBy) {
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        self.state.next = if self.state.retries_rejections {
            Next::Rejected(by)
        } else {
            Next::stopped_by(by)
        };
    }

    pub(super) fn end_wait(&mut self, waited: Result<Duration, RejectedBy>) {
        self.state.is_cancelled |= waited == Err(RejectedBy::Cancelled);
        match waited {
            Ok(waited) if !self.is_over() => self.state.next = Next::Waited(waited),
            late => self.reject(late.err().unwrap_or(RejectedBy::Deadline)),
        }
    }

    /// Decides what follows a rejection. After a breaker's rejection, the attempt is not tried again before the breaker
    /// is half open.
    pub(super) fn rejected(
        &mut self,
        site: &Site<'_>,
        is_cancelled: bool,
        delays: Option<&mut dyn FnMut(u32) -> Duration>,
    ) {
        let Next::Rejected(by) = self.state.next else {
            return;
        };
        let breaker = self.shared.breaker.filter(|_| by == RejectedBy::Breaker);
        let half_open_in = breaker.and_then(AdmissionControl::half_open_in);
        let verdict = Verdict::retry(Kind::Rejected);
        let verdict = half_open_in.map_or(verdict, |wait| verdict.after(wait));
        let rejected = Rejected::new(by);
        let mut failure = Failure::new(site, verdict, &rejected).cancelled(is_cancelled);
        failure.delays = delays.map(|delays| delays as _);
        self.state.can_stop = true;
        self.state.next = match self.retry_rejection(by, self.with_time(failure)) {
            Ok(()) => Next::Pause,
            Err(by) => Next::stopped_by(by),
        };
    }

    /// Starts the pause before the attempt is tried again, or returns the rejection that ends the call. A rejection is
    /// not evidence about a server, so the breaker, the limiter and the budget don't record it.
    fn retry_rejection(
        &mut self,
        by: RejectedBy,
        mut failure: Failure<'_>,
    ) -> Result<(), RejectedBy> {
        let policy = &failure.site.policy_in_force();
        let schedule = policy.schedule(Some(Kind::Rejected), failure.inputs.values);
        let past = self.state.past();
        let may_follow = Reason::from(by) == Reason::Rejected;
        let retry = schedule.next_retry(past.rejections);
        let retry = retry.filter(|_| may_follow).ok_or(by)?;
        if failure.inputs.cancelled {
            return Err(RejectedBy::Cancelled);
        }
        let call = &mut past.call;
        call.set_spent(failure.inputs.elapsed);
        let delay = call.delay(&mut failure, policy, (Kind::Rejected, &schedule), retry);
        let delay = delay.map_err(|reason| match reason {
            Reason::Deadline => RejectedBy::Deadline,
            _ => by,
        })?;
        call.set_pause(delay);
        past.rejections = retry;
        let (attempt, max) = (call.attempt(), limit(call.with_max_of(policy).max));
        let data = EventData::Retrying {
            retry,
            retry_max: limit(schedule.max),
            max,
            delay,
            error: &shown(failure.error),
            kind: Kind::Rejected,
        };
        self.report_at(attempt, data);
        Ok(())
    }

    pub(super) fn end_pause(&mut self, is_cancelled: bool) {
        self.state.is_cancelled |= is_cancelled;
        let pause = self.state.call().last_delay();
        let is_late = || self.is_late(pause);
        self.state.next = match self.state.can_stop {
            true if is_cancelled => Next::stopped_by(RejectedBy::Cancelled),
            true if is_late() => Next::stopped_by(RejectedBy::Deadline),
            _ => Next::Enter,
        };
    }

    /// Returns true if a pause ended too late for another attempt.
    fn is_late(&self, pause: Duration) -> bool {
        self.is_over() || is_late(self.state.deadline, pause, self.now)
    }

    /// Returns true if an attempt would be dropped as soon as it starts: the key `total_timeout`.
    fn is_over(&self) -> bool {
        self.state
            .total_end()
            .is_some_and(|end| (self.now)() >= end)
    }

    pub(super) fn end_hook(&mut self, cause: Option<String>) {
        let (deadline, pause) = (self.state.deadline, self.state.call().last_delay());
        let is_late = match self.state.next {
            // The hook ran before the pause.
            Next::Pause => overruns(deadline, pause, self.now),
            _ => self.is_late(pause),
        };
        if let Some(cause) = cause {
            self.state.next = Next::Stopped(Box::new(Stop::from_hook(cause)));
        } else if is_late {
            self.state.next = Next::stopped_by(RejectedBy::Deadline);
        }
    }

    /// Reports the end of a call before an attempt.
    pub(crate) fn stopped(&mut self, stop: &Stop, error: &dyn fmt::Display, ending: Ending) {
        self.release_all();
        let call = self.reported_call();
        self.keep_cause(ending, stop.reason(), error);
        let caused = stop.cause.as_ref().map(|cause| WithCause(error, cause));
        let error = caused.as_ref().map_or(error, |caused| caused as _);
        let error = &shown(error);
        let (attempt, data) = call.end_after_pause(error, stop.values, ending, stop.reason());
        self.report_at(attempt, data);
    }
}

/// The tolerance for a pause that should have ended by the deadline, because timers are coarse, and threads have to be
/// scheduled. A pause that ends later missed the deadline.
pub(crate) fn grace(pause: Duration) -> Duration {
    (pause / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// Returns true if no attempt may follow this pause, because the pause ended too late.
pub(crate) fn is_late(end: Option<Moment>, pause: Duration, now: impl FnOnce() -> Moment) -> bool {
    end.is_some_and(|end| now().since(end) > grace(pause))
}

/// Returns true if a pause that was decided earlier may not start, because it would end after the deadline.
pub(crate) fn overruns(end: Option<Moment>, pause: Duration, now: impl FnOnce() -> Moment) -> bool {
    end.is_some_and(|end| end.checked_since(now()).is_none_or(|left| pause > left))
}

/// Returns true if a deadline that drops running attempts has passed, so that anything started now would be dropped at
/// once.
pub(crate) fn is_over(deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> bool {
    deadline.is_some_and(|end| now() > end)
}
