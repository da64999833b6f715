//! The steps after an attempt, and at the end of a call.

use alloc::string::ToString;
use core::time::Duration;
use core::{fmt, mem};

use retry_classify::macro_support::shown;
use retry_classify::{Cancelled, RejectedBy};

use crate::admission::{AdmissionControl, AttemptOutcome};
use crate::call::steps::{Next, Steps};
use crate::call::{Ending, Failure, Stop};
use crate::history::gave_up::Taken;
use crate::observe::report::report_unlogged_end;
use crate::observe::{Event, EventData, Reason};
use crate::policy::schedule::limit;
use crate::time::Moment;

/// A stream breaks early if it lasts no longer than this time, or no longer than the pause before it.
const EARLY_BREAK: Duration = Duration::from_secs(1);

/// The number of streams in a row that may break early and still count as progress. Without a bound, a server that
/// breaks each stream after one item would be called forever.
const MAX_EARLY_BREAKS: u32 = 100;

impl Steps<'_, '_> {
    #[inline(never)]
    pub(crate) fn ok(&mut self) {
        self.answered();
        self.succeeded();
    }

    pub(crate) fn answered(&mut self) {
        // Returns each permit separately, because most calls have only one.
        let (shared, outcome) = (self.shared, AttemptOutcome::Success);
        if self.state.held.breaker.is_held() {
            let changes = self.state.held.breaker.leave(shared.breaker, outcome);
            self.report_changes(changes, None);
        }
        if self.state.held.limiter.is_held() {
            self.leave(outcome);
        }
    }

    /// Reports the end of the attempt to the limiter alone.
    pub(crate) fn leave(&mut self, outcome: AttemptOutcome) {
        let changes = self.state.held.limiter.leave(self.shared.limiter, outcome);
        self.report_changes(changes, None);
    }

    pub(crate) fn succeeded(&mut self) {
        self.report_success();
        self.credit_success();
    }

    pub(crate) fn credit_success(&mut self) {
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
    pub(crate) fn report_success(&mut self) {
        if self.state.past.is_some() || self.reporter.is_observed() {
            let call = self.reported_call();
            if call.is_retried() || self.reporter.is_observed() {
                self.report_at(call.attempt(), call.success());
            }
        }
    }

    /// Reports a failed attempt to the breaker and the limiter.
    pub(crate) fn record_failure(&mut self, failure: &Failure<'_>) {
        let outcome = AttemptOutcome::of_failure(failure.verdict);
        for changes in self.state.held.leave(self.shared, outcome) {
            self.report_changes(changes, Some(failure.error));
        }
    }

    /// Reports a failed attempt to the breaker, the limiter and the budget. The next step is decided for several
    /// attempts together.
    pub(crate) fn failed_with_others(&mut self, failure: Failure<'_>) {
        self.record_failure(&failure);
        let mut failure = self.with_limiter(failure);
        let failure = failure.reborrow().with_budget(self.shared.budget);
        let policy = failure.site.policy_in_force();
        self.state.past().call.report_to_budget(&failure, &policy);
    }

    /// Adds the time spent and the deadline to the failure.
    pub(crate) fn with_time<'f>(&self, failure: Failure<'f>) -> Failure<'f> {
        let began = self.state.past.as_ref().and_then(|past| past.began);
        let total_end = self.state.total_end();
        let mut failure = failure.deadline(self.state.deadline, self.now);
        failure.inputs.total_left = total_end.map(|end| end.since((self.now)()));
        match began {
            Some(began) => failure.elapsed((self.now)().since(began)),
            None => failure,
        }
    }

    /// Marks the failure if a limiter handles throttled retries, so that the budget need not pay for them.
    pub(crate) fn with_limiter<'f>(&self, failure: Failure<'f>) -> Failure<'f> {
        let limiter = self.shared.limiter;
        failure.limited(limiter.is_some_and(AdmissionControl::handles_throttling))
    }

    pub(crate) fn aborted(&mut self) {
        if matches!(self.state.next, Next::Begun) {
            self.release_all();
            let call = self.reported_call();
            let (attempts, error) = (call.attempts(), &shown(Cancelled::new()));
            let data = call.end(attempts, error, None, Reason::Cancelled, Ending::Error);
            self.report_at(call.attempt(), data);
        } else {
            let stop = Stop::from_rejection(RejectedBy::Cancelled);
            self.stopped(&stop, &Cancelled::new(), Ending::Error);
        }
    }

    /// Keeps the reason and the error that a fallback replaces.
    pub(crate) fn keep_cause(&mut self, ending: Ending, reason: Reason, error: &dyn fmt::Display) {
        if ending == Ending::Fallback {
            self.state.past().cause = Some((reason, shown(error).to_string()));
        }
    }

    /// Reports the end of the fallback. A fallback that returns the call's own error is not logged, because the log
    /// already contains that error. Returns the reason for giving up if the fallback failed.
    pub(crate) fn fell_back(&mut self, taken: &Taken, error: Option<&dyn fmt::Display>) -> Reason {
        let (call, attempts) = (self.reported_call(), taken.attempts);
        let error = error.map(shown);
        let fell = self.state.past().cause.take().filter(|_| taken.is_set());
        let own = error.as_ref().zip(fell);
        let own = own.filter(|(error, (_, text))| error.to_string() == *text);
        if let Some((error, (reason, _))) = own {
            let name = self.reporter.name();
            let data = call.end(attempts, error, None, reason, Ending::Error);
            let event = Event::new(&name, attempts, data);
            let stopwatch = &mut self.state.past().stopwatch;
            self.reporter.timed(self.now, stopwatch, |observe| {
                report_unlogged_end(&event, observe);
            });
            return reason;
        }
        let data = match &error {
            Some(error) => call.end(attempts, error, None, Reason::FallbackFailed, Ending::Error),
            None => EventData::FellBack {
                corrections: call.corrections,
                max: limit(call.max),
            },
        };
        self.report_at(attempts, data);
        Reason::FallbackFailed
    }

    pub(crate) fn restart(&mut self, lasted: Duration) {
        let past = self.state.past();
        past.call = past.call.restarted(lasted);
        past.rejections = 0;
    }

    /// Records that an attempt's stream broke. Returns false if the stream's items don't count as progress.
    pub(crate) fn count_break(&mut self, began: Moment) -> bool {
        let lasted = (self.now)().since(began);
        let past = self.state.past();
        let is_early = lasted <= past.call.last_delay().max(EARLY_BREAK);
        // A stream that lasts longer resets the count.
        past.early_breaks = past.early_breaks.saturating_add(1) * u32::from(is_early);
        past.early_breaks <= MAX_EARLY_BREAKS
    }

    pub(crate) fn credit(&mut self) {
        if let Some(budget) = self.shared.budget {
            let call = &mut self.state.past().call;
            call.credit(budget);
            call.has_outcome = true;
        }
    }

    /// Releases everything that the call holds.
    #[cold]
    #[inline(never)]
    pub(crate) fn release_all(&mut self) {
        // Attempts that started earlier come first.
        self.leave_hedges();
        self.state.held.leave(self.shared, AttemptOutcome::Dropped);
        self.refund();
    }

    /// Refunds the payment for an attempt that has not started.
    pub(crate) fn refund(&mut self) {
        if !mem::take(&mut self.state.is_paid) {
            return;
        }
        if let (Some(budget), Some(kind)) = (self.shared.budget, self.state.call().last_retry_kind)
        {
            budget.refund(kind);
        }
    }
}
