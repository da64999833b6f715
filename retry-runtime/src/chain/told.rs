//! What a chain's loops tell the core of a failure, in functions of no type of the user's.

use core::fmt;
use core::time::Duration;

use crate::breaker::circuit_breaker::Transition;
use crate::breaker::permit::Records;
use crate::budget::retry_budget::RetryBudget;
use crate::call::failure::{Failure, REJECTED_VALUE};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::on_error::{Described, OnError};
use crate::classify::verdict::Verdict;
use crate::limiter::place::Leave;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::policy::Policy;
use crate::time::moment::Moment;

pub(super) struct Told<'a> {
    pub(super) policy: &'a Policy,
    pub(super) name: &'a str,
    /// When the call must end, and what time it is.
    pub(super) deadline: Option<(Moment, Moment)>,
    pub(super) idempotent: bool,
    pub(super) falls_back: bool,
    pub(super) budget: Option<&'a dyn RetryBudget>,
    pub(super) observe: Option<Observe<'a>>,
}

impl Told<'_> {
    /// The pause before the attempt that follows a rejected value, if one does. No fallback follows it.
    pub(super) fn rejected_value(self, call: &mut Call, is_cancelled: bool) -> Option<Duration> {
        let told = Self {
            falls_back: false,
            ..self
        };
        let verdict = Verdict::TRANSIENT;
        let pause = told.failed(call, verdict, &REJECTED_VALUE, None, None, is_cancelled);
        pause.ok()
    }

    /// The pause before the next attempt, or why there is none.
    #[cold]
    #[inline(never)]
    pub(super) fn failed(
        self,
        call: &mut Call,
        verdict: Verdict,
        error: &dyn fmt::Display,
        permit: Option<&mut dyn Records>,
        place: Option<&mut dyn Leave>,
        is_cancelled: bool,
    ) -> Result<Duration, Reason> {
        let site = Site::new(self.policy, self.name);
        let mut failure = Failure::new(&site, verdict, error).cancelled(is_cancelled);
        if let Some(permit) = permit {
            failure = failure.recorded(permit);
        }
        if let Some(place) = place {
            failure = failure.left(place);
        }
        call.failed_with(self.completed(failure))
    }

    /// The call ends so before its first attempt, or after a pause.
    pub(super) fn ended<T, E>(
        self,
        call: &Call,
        on: &impl OnError<E>,
        outcome: &Result<T, E>,
        reason: Reason,
    ) {
        match outcome {
            Ok(_) => {
                let told = Self {
                    falls_back: false,
                    ..self
                };
                told.gave_up(call, &REJECTED_VALUE, reason);
            }
            Err(error) => self.gave_up(call, &Described { on, error }, reason),
        }
    }

    #[cold]
    #[inline(never)]
    fn gave_up(self, call: &Call, error: &dyn fmt::Display, reason: Reason) {
        let site = Site::new(self.policy, self.name);
        let failure = Failure::new(&site, Verdict::TRANSIENT, error);
        call.gave_up(self.completed(failure), reason);
    }

    fn completed<'a>(self, failure: Failure<'a>) -> Failure<'a>
    where
        Self: 'a,
    {
        let (end, now) = self.deadline.unzip();
        let mut failure = failure.idempotent(self.idempotent);
        failure = failure.deadline(end, || now.unwrap_or(Moment::from_origin(Duration::ZERO)));
        if self.falls_back {
            failure = failure.falls_back();
        }
        if let Some(budget) = self.budget {
            failure = failure.budget(budget);
        }
        if let Some(observe) = self.observe {
            failure = failure.observe(observe);
        }
        failure
    }
}

/// The call succeeded, at once or after retries.
#[inline]
pub(super) fn succeeded<'a>(
    call: &Call,
    policy: &Policy,
    name: impl FnOnce() -> &'a str,
    observe: Option<Observe<'_>>,
) {
    match observe {
        Some(observe) => call.succeeded_observed(&Site::new(policy, name()), observe),
        None if call.is_retried() => call.succeeded(&Site::new(policy, name())),
        None => {}
    }
}

/// The last resort ended that was called after so many attempts.
pub(super) fn fell_back<T, E>(
    call: &Call,
    name: &str,
    attempts: u32,
    on: &impl OnError<E>,
    outcome: &Result<T, E>,
    observe: Option<Observe<'_>>,
) {
    match outcome {
        Ok(_) => call.fallback_ended(name, attempts, Ok(()), observe),
        Err(error) => {
            call.fallback_ended(name, attempts, Err(&Described { on, error }), observe);
        }
    }
}

/// An attempt that was let through, or that succeeded, changed the state of the call's breaker.
#[cold]
#[inline(never)]
pub(super) fn turned(
    call: &Call,
    name: &str,
    transition: Transition,
    observe: Option<Observe<'_>>,
) {
    call.turned(name, transition, &"", observe);
}
