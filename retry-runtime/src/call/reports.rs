//! A call's reports to the log and to its observer.

use core::fmt;
use core::time::Duration;

use retry_classify::macro_support::shown;
use retry_vocabulary::duration::DurationText;

use crate::admission::{Change, Transition};
use crate::call::{Call, Decision, Ending, Failure};
use crate::observe::{AttemptEnd, Event, EventData, Observe, Reason, report};
use crate::policy::schedule::limit;
use crate::policy::{Policy, Values};
use crate::site::Site;

impl Call {
    /// Reports to an observer that an attempt starts.
    pub fn started(&self, name: &str, observe: Observe<'_>) {
        observe(&Event::new(name, self.attempt(), EventData::Started));
    }

    /// Reports the decision after the attempt with this number failed.
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

    /// Reports that the loop ends the call during or after the pause that [`failed_with`](Self::failed_with) returned,
    /// for a reason such as [`Reason::CorrectionFailed`].
    pub fn gave_up(&self, failure: Failure<'_>, reason: Reason) {
        let call = self.with_max(failure.site.policy_in_force().retries_allowed());
        let (values, ending) = (failure.inputs.values, failure.inputs.ending);
        let error = &shown(failure.error);
        let (attempt, data) = call.end_after_pause(error, values, ending, reason);
        let name = failure.site.name();
        report(&Event::new(name, attempt, data), failure.observe);
    }

    /// The number of the last attempt, and the event of a call that ends during or after its pause.
    pub(super) fn end_after_pause<'a>(
        &self,
        error: &'a dyn fmt::Display,
        values: Values,
        ending: Ending,
        reason: Reason,
    ) -> (u32, EventData<'a>) {
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
        let attempt = self.attempt().saturating_sub(attempts);
        (attempt, call.end(all, error, None, reason, ending))
    }

    /// Reports that the call ends with the current attempt. `ended` is `None` if the attempt was still running.
    #[doc(hidden)]
    pub fn report_end(
        &self,
        site: &Site<'_>,
        error: &dyn fmt::Display,
        ended: Option<AttemptEnd>,
        reason: Reason,
        observe: Option<Observe<'_>>,
    ) {
        let (error, attempts) = (shown(error), self.attempts());
        let call = self.with_max_of(site.policy);
        let data = call.end(attempts, &error, ended, reason, Ending::Error);
        report(&Event::new(site.name(), call.attempt(), data), observe);
    }

    /// Reports that the call succeeded. The success is logged only if an attempt failed before.
    #[inline]
    pub fn succeeded(&self, site: &Site<'_>) {
        if self.is_retried() {
            self.report_success(site, None);
        }
    }

    /// Reports a success as [`succeeded`](Self::succeeded) does. The observer is notified even if the first attempt
    /// succeeded.
    pub fn succeeded_observed(&self, site: &Site<'_>, observe: Observe<'_>) {
        self.report_success(site, Some(observe));
    }

    #[cold]
    #[inline(never)]
    fn report_success(&self, site: &Site<'_>, observe: Option<Observe<'_>>) {
        let data = self.with_max_of(site.policy).success();
        report(&Event::new(site.name(), self.attempt(), data), observe);
    }

    /// The call, with the policy's `max` if none was read yet.
    pub(crate) fn with_max_of(self, policy: &Policy) -> Self {
        match self.max {
            0 => self.with_max(policy.retries_allowed()),
            _ => self,
        }
    }

    pub(super) fn success(&self) -> EventData<'static> {
        EventData::Succeeded {
            attempts: self.attempts(),
            corrections: self.corrections,
            max: limit(self.max),
        }
    }

    /// The event of a call that ends after `attempts`, or continues with its fallback.
    pub(super) fn end<'a>(
        &self,
        attempts: u32,
        error: &'a dyn fmt::Display,
        ended: Option<AttemptEnd>,
        reason: Reason,
        ending: Ending,
    ) -> EventData<'a> {
        let (corrections, max) = (self.corrections, limit(self.max));
        match ending {
            Ending::Error | Ending::GiveUp => EventData::GaveUp {
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

impl Change {
    /// The event of this change. If a breaker opened, the event contains the attempt's error.
    pub(super) fn event(self, error: Option<&dyn fmt::Display>) -> EventData<'_> {
        match self {
            Self::Breaker(Transition::Opened { cause, open_for }) => EventData::BreakerOpened {
                open_for,
                error,
                cause,
            },
            Self::Breaker(Transition::HalfOpened) => EventData::BreakerHalfOpened,
            Self::Breaker(Transition::Closed) => EventData::BreakerClosed,
            Self::Paused { pause } => EventData::LimiterPaused { pause },
            Self::Resumed => EventData::LimiterResumed,
            Self::Limit(limit) => EventData::LimitChanged { limit },
            Self::Rate(rate) => EventData::RateChanged { rate },
        }
    }
}

/// An error, and the wait that the server asked for if that wait ends the call.
pub struct WithHint<E> {
    error: E,
    hint: Option<Duration>,
}

impl<E> WithHint<E> {
    /// The error of a failure with this hint and this decision.
    pub fn new(error: E, decision: Decision, hint: Option<Duration>) -> Self {
        let hint = hint.filter(|_| decision == Err(Reason::HintTooLong));
        Self { error, hint }
    }
}

impl<E: fmt::Display> fmt::Display for WithHint<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        match self.hint {
            Some(hint) => write!(f, "; the server asks to wait {}", DurationText(hint)),
            None => Ok(()),
        }
    }
}
