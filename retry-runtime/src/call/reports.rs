//! A call's reports to the log and to its observer.

use core::fmt;

use retry_classify::Cancelled;
use retry_classify::macro_support::shown;

use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::call::with_hint::WithHint;
use crate::observe::{AttemptEnd, Event, EventData, Observe, Reason, report};
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::policy::values::Values;

impl Call {
    /// Reports an event of the current attempt.
    pub(super) fn report(&self, name: &str, data: EventData<'_>, observe: Option<Observe<'_>>) {
        report(&Event::new(name, self.attempt(), data), observe);
    }

    /// Reports to an observer that an attempt starts.
    pub fn started(&self, name: &str, observe: Observe<'_>) {
        observe(&Event::new(name, self.attempt(), EventData::Started));
    }

    /// Reports the decision after a failure of the attempt with that number.
    pub(super) fn report_decision(
        &self,
        decision: Decision,
        attempt: u32,
        failure: Failure<'_>,
        policy: &Policy,
    ) {
        let max = limit(self.max);
        let (values, kind) = (failure.inputs.values, failure.verdict.kind());
        let error = &WithHint::new(shown(failure.error), decision, failure.hint());
        let data = match (decision, kind) {
            (Ok(delay), _) if values == Values::Corrected => EventData::Correcting {
                correction: self.corrections,
                max: limit(policy.schedule(kind, values).max),
                delay,
                error,
            },
            (Ok(delay), Some(kind)) => {
                let (retry, retry_max) = self.retry_count(policy, kind, values);
                EventData::Retrying {
                    retry,
                    retry_max,
                    max,
                    delay,
                    error,
                    kind,
                }
            }
            (Ok(_), None) => return,
            (Err(reason), kind) => {
                let ended = Some(AttemptEnd::failed(kind));
                self.end(self.attempts(), error, ended, reason, failure.inputs.ending)
            }
        };
        let name = failure.site.name();
        report(&Event::new(name, attempt, data), failure.observe);
    }

    /// Reports that the call ends during or after the pause that [`failed_with`](Self::failed_with) returned, for a
    /// reason of the loop's own, such as [`Reason::CorrectionFailed`].
    pub fn gave_up(&self, failure: Failure<'_>, reason: Reason) {
        let call = self.with_max(failure.site.policy_in_force().retries_allowed());
        let (name, error) = (failure.site.name(), failure.error);
        let (values, ending) = (failure.inputs.values, failure.inputs.ending);
        call.ended_after_pause(name, error, values, ending, reason, failure.observe);
    }

    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn ended_after_pause(
        &self,
        name: &str,
        error: &dyn fmt::Display,
        values: Values,
        ending: Ending,
        reason: Reason,
        observe: Option<Observe<'_>>,
    ) {
        // The next step after the pause never started, unless it was a correction that failed.
        let (attempts, corrections) = match (values, reason) {
            (Values::Corrected, Reason::CorrectionFailed) => (0, 0),
            (Values::Corrected, _) => (0, 1),
            (Values::Taken | Values::Validated, _) => (1, 0),
        };
        let call = Self {
            corrections: self.corrections.saturating_sub(corrections),
            ..*self
        };
        let all = self.attempts().saturating_sub(attempts);
        let error = shown(error);
        let data = call.end(all, &error, None, reason, ending);
        let attempt = self.attempt().saturating_sub(attempts);
        report(&Event::new(name, attempt, data), observe);
    }

    /// Reports that the call was cancelled in the middle of an attempt, or before one.
    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    pub fn aborted(&self, name: &str, is_under_way: bool, observe: Option<Observe<'_>>) {
        let (error, ending, reason) = (Cancelled::new(), Ending::Error, Reason::Cancelled);
        if !is_under_way {
            return self.ended_after_pause(name, &error, Values::Taken, ending, reason, observe);
        }
        let error = shown(&error);
        let data = self.end(self.attempts(), &error, None, reason, ending);
        self.report(name, data, observe);
    }

    /// Reports that the call ends with an attempt that ended in this way, or in the middle of one.
    #[cfg(feature = "plan")]
    pub(crate) fn cut(
        &self,
        site: &Site<'_>,
        error: &dyn fmt::Display,
        ended: Option<AttemptEnd>,
        reason: Reason,
        observe: Option<Observe<'_>>,
    ) {
        let (error, attempts) = (shown(error), self.attempts());
        let call = self.known(site.policy);
        let data = call.end(attempts, &error, ended, reason, Ending::Error);
        call.report(site.name(), data, observe);
    }

    /// Reports how the fallback ended, and how many attempts preceded it.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn fallback_ended(
        &self,
        call: &str,
        attempt: u32,
        ended_with: Result<(), &dyn fmt::Display>,
        observe: Option<Observe<'_>>,
    ) {
        let error = ended_with.err().map(shown);
        let data = match &error {
            Some(error) => self.end(attempt, error, None, Reason::FallbackFailed, Ending::Error),
            None => EventData::FellBack {
                corrections: self.corrections,
                max: limit(self.max),
            },
        };
        report(&Event::new(call, attempt, data), observe);
    }

    /// Reports a success. It is logged if an attempt failed before.
    #[inline]
    pub fn succeeded(&self, site: &Site<'_>) {
        if self.is_retried() {
            self.known(site.policy).healed(site.name(), None);
        }
    }

    /// Reports a success as [`succeeded`](Self::succeeded) does. An observer is also notified if the first attempt
    /// succeeded.
    pub fn succeeded_observed(&self, site: &Site<'_>, observe: Observe<'_>) {
        self.known(site.policy).report_success(site.name(), observe);
    }

    /// The call with the policy's `max`, if none was read yet.
    pub(super) fn known(self, policy: &Policy) -> Self {
        match self.max {
            0 => self.with_max(policy.retries_allowed()),
            _ => self,
        }
    }

    /// Reports a success after retries.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn healed(&self, name: &str, observe: Option<Observe<'_>>) {
        report(&self.success(name), observe);
    }

    /// Reports a success to an observer, and to the log if something failed before.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn report_success(&self, name: &str, observe: Observe<'_>) {
        if self.is_retried() {
            self.healed(name, Some(observe));
        } else {
            observe(&self.success(name));
        }
    }

    fn success<'a>(&self, name: &'a str) -> Event<'a> {
        let data = EventData::Succeeded {
            attempts: self.attempts(),
            corrections: self.corrections,
            max: limit(self.max),
        };
        Event::new(name, self.attempt(), data)
    }

    /// The event of a call that ends after `attempts`, or continues with its fallback.
    fn end<'a>(
        &self,
        attempts: u32,
        error: &'a dyn fmt::Display,
        ended: Option<AttemptEnd>,
        reason: Reason,
        ending: Ending,
    ) -> EventData<'a> {
        let (corrections, max) = (self.corrections, limit(self.max));
        match ending {
            Ending::Error => EventData::GaveUp {
                attempts,
                corrections,
                max,
                error,
                ended,
                reason,
            },
            Ending::Fallback => EventData::FallingBack {
                corrections,
                max,
                error,
                ended,
                reason,
            },
        }
    }
}
