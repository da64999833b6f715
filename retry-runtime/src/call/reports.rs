//! What a call tells the log and its observer.

use core::fmt;

use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::error_text::shown::shown;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::event::Event;
use crate::observe::reason::Reason;
use crate::observe::report::{Observe, report};
use crate::policy::schedule::limit;
use crate::policy::values::Values;

impl Call {
    /// Tells an observer that an attempt begins.
    pub fn started(&self, name: &str, observe: Observe<'_>) {
        observe(&Event::Started {
            call: name,
            attempt: self.attempt(),
        });
    }

    /// Reports what follows a failure of the attempt with that number.
    pub(super) fn report_decision(
        &self,
        decision: Decision,
        attempt: u32,
        max: Option<u32>,
        failure: Failure<'_>,
    ) {
        let Failure {
            site,
            verdict,
            error,
            values,
            ending,
            observe,
            ..
        } = failure;
        let (call, corrections, error) = (site.name(), self.corrections, &shown(error));
        match (decision, verdict.kind()) {
            (Ok(delay), _) if values == Values::Corrected => {
                report(
                    &Event::Correcting {
                        call,
                        attempt,
                        correction: corrections,
                        max,
                        delay,
                        error,
                    },
                    observe,
                );
            }
            (Ok(delay), Some(kind)) => {
                report(
                    &Event::Retrying {
                        call,
                        attempt,
                        max,
                        delay,
                        error,
                        kind,
                    },
                    observe,
                );
            }
            (Ok(_), None) => {}
            (Err(reason), _) => {
                let end = EndReport {
                    call,
                    attempt,
                    attempts: attempt.saturating_add(self.beside),
                    corrections,
                    max,
                    ended: Some(AttemptEnd::failed(verdict.kind())),
                    reason,
                };
                end.report(error, ending, observe);
            }
        }
    }

    /// Reports that the call ends during or after the pause that [`failed_with`](Self::failed_with) returned, for a
    /// reason of the loop's own, such as [`Reason::CorrectionFailed`].
    pub fn gave_up(&self, failure: Failure<'_>, reason: Reason) {
        let in_force = self.in_force_after(&failure);
        let Failure {
            site,
            error,
            values,
            ending,
            observe,
            ..
        } = failure;
        let call = Self { in_force, ..*self };
        call.ended_after_pause(site.name(), error, values, ending, reason, observe);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn ended_after_pause(
        &self,
        name: &str,
        error: &dyn fmt::Display,
        values: Values,
        ending: Ending,
        reason: Reason,
        observe: Option<Observe<'_>>,
    ) {
        // What the pause was for never began, unless it is a correction that failed.
        let (attempts, corrections) = match (values, reason) {
            (Values::Corrected, Reason::CorrectionFailed) => (0, 0),
            (Values::Corrected, _) => (0, 1),
            (Values::Taken | Values::Validated, _) => (1, 0),
        };
        let end = EndReport {
            call: name,
            attempt: self.attempt().saturating_sub(attempts),
            attempts: self.attempts().saturating_sub(attempts),
            corrections: self.corrections.saturating_sub(corrections),
            max: limit(self.in_force),
            ended: None,
            reason,
        };
        end.report(&shown(error), ending, observe);
    }

    /// Reports that the call ends with an attempt that ended so, or in the middle of one.
    #[cfg(feature = "plan")]
    pub(crate) fn cut(
        &self,
        site: &Site<'_>,
        error: &dyn fmt::Display,
        ended: Option<AttemptEnd>,
        reason: Reason,
        observe: Option<Observe<'_>>,
    ) {
        let end = EndReport {
            call: site.name(),
            attempt: self.attempt(),
            attempts: self.attempts(),
            corrections: self.corrections,
            max: self.retries_allowed(site.policy),
            ended,
            reason,
        };
        end.report(&shown(error), Ending::Error, observe);
    }

    /// Tells how the last resort ended that was called after so many attempts.
    #[cold]
    #[inline(never)]
    pub(crate) fn fallback_ended(
        &self,
        call: &str,
        attempt: u32,
        ended_with: Result<(), &dyn fmt::Display>,
        observe: Option<Observe<'_>>,
    ) {
        let (corrections, max) = (self.corrections, limit(self.in_force));
        match ended_with {
            Ok(()) => {
                report(
                    &Event::FellBack {
                        call,
                        attempt,
                        corrections,
                        max,
                    },
                    observe,
                );
            }
            Err(error) => {
                let end = EndReport {
                    call,
                    attempt,
                    attempts: attempt,
                    corrections,
                    max,
                    ended: None,
                    reason: Reason::FallbackFailed,
                };
                end.report(&shown(error), Ending::Error, observe);
            }
        }
    }

    /// Reports a success. It is logged if an attempt failed before.
    #[inline]
    pub fn succeeded(&self, site: &Site<'_>) {
        if self.is_retried() {
            self.known(site).healed(site.name(), None);
        }
    }

    /// The same, and tells an observer also of a success at once.
    pub fn succeeded_observed(&self, site: &Site<'_>, observe: Observe<'_>) {
        self.known(site).told(site.name(), observe);
    }

    /// What is told of a success goes by the last failure, if there was one.
    fn known(self, site: &Site<'_>) -> Self {
        match self.in_force {
            0 => self.with_max(site.policy.max_retries()),
            _ => self,
        }
    }

    /// Reports a success after a failure.
    #[cold]
    #[inline(never)]
    pub(crate) fn healed(&self, name: &str, observe: Option<Observe<'_>>) {
        report(&self.success(name), observe);
    }

    /// Tells an observer of a success, and the log where something failed before.
    #[cold]
    #[inline(never)]
    pub(crate) fn told(&self, name: &str, observe: Observe<'_>) {
        if self.is_retried() {
            self.healed(name, Some(observe));
        } else {
            observe(&self.success(name));
        }
    }

    fn success<'a>(&self, name: &'a str) -> Event<'a> {
        Event::Succeeded {
            call: name,
            attempt: self.attempt(),
            attempts: self.attempts(),
            corrections: self.corrections,
            max: limit(self.in_force),
        }
    }
}

/// A call that no attempt follows in.
struct EndReport<'a> {
    call: &'a str,
    attempt: u32,
    attempts: u32,
    corrections: u32,
    max: Option<u32>,
    ended: Option<AttemptEnd>,
    reason: Reason,
}

impl EndReport<'_> {
    fn report(self, error: &dyn fmt::Display, ending: Ending, observe: Option<Observe<'_>>) {
        let Self {
            call,
            attempt,
            attempts,
            corrections,
            max,
            ended,
            reason,
        } = self;
        match ending {
            Ending::Error => {
                report(
                    &Event::GaveUp {
                        call,
                        attempt,
                        attempts,
                        corrections,
                        max,
                        error,
                        ended,
                        reason,
                    },
                    observe,
                );
            }
            Ending::Fallback => {
                report(
                    &Event::FallingBack {
                        call,
                        attempt,
                        corrections,
                        max,
                        error,
                        ended,
                        reason,
                    },
                    observe,
                );
            }
        }
    }
}
