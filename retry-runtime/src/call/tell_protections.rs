//! What a call tells the budget, the breaker and the limiter that it shares with others of a failure, and what it
//! reports about them. Of a success, `Attempts::passed` and the permit tell the breaker.

use core::fmt;
use core::mem;
use core::task::Waker;
use core::time::Duration;

use crate::breaker::circuit_breaker::{Seen, Transition};
use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::classify::verdict::Basis;
use crate::error_text::shown::shown;
use crate::limiter::place::Place;
use crate::limiter::{End, LimiterChange, LimiterChanges, Turn};
use crate::observe::event::EventData;
use crate::observe::report::{Observe, reborrow};
use crate::policy::Policy;

impl Call {
    /// Tells a budget that the call succeeded, or made progress before it is [`restarted`](Self::restarted).
    /// [`failed_with`](Self::failed_with) tells it of all else.
    ///
    /// ```
    /// use retry_runtime::{Budget, Call, Failure, Policy, Site, Verdict};
    ///
    /// static BUDGET: Budget = Budget::standard();
    /// const POLICY: Policy = Policy::none();
    ///
    /// let site = Site::new(&POLICY, "model.fetch");
    /// let mut call = Call::new();
    /// let failure = Failure::new(&site, Verdict::TRANSIENT, &"overloaded");
    /// assert!(call.failed_with(failure.budget(&BUDGET)).is_ok());
    /// assert_eq!(BUDGET.available(), 486.0);
    /// call.succeeded(&site);
    /// call.credit(&BUDGET);
    /// assert_eq!(BUDGET.available(), 500.0);
    /// ```
    #[inline]
    pub fn credit<B: RetryBudget + ?Sized>(&self, budget: &B) {
        if self.has_outcome {
            budget.succeeded(self.last_retry_kind);
        } else {
            budget.succeeded_at_once();
        }
    }

    /// Tells a budget of a success after which the call goes on, and may fail yet.
    #[doc(hidden)]
    #[must_use]
    pub fn credited<B: RetryBudget + ?Sized>(self, budget: &B) -> Self {
        self.credit(budget);
        Self {
            has_outcome: true,
            ..self
        }
    }

    /// The payment of that budget for the retry that [`failed_with`](Self::failed_with) has just allowed. Dropped
    /// before the retry begins, it goes back.
    ///
    /// ```
    /// use retry_runtime::{Budget, Call, Failure, Policy, Site, Verdict};
    ///
    /// static BUDGET: Budget = Budget::standard();
    /// const POLICY: Policy = Policy::none();
    ///
    /// let site = Site::new(&POLICY, "model.fetch");
    /// let mut call = Call::new();
    /// let failure = Failure::new(&site, Verdict::TRANSIENT, &"overloaded");
    /// assert!(call.failed_with(failure.budget(&BUDGET)).is_ok());
    /// let paid = call.paid(&BUDGET);
    /// assert_eq!(BUDGET.available(), 486.0);
    /// // The call is dropped during its pause:
    /// drop(paid);
    /// assert_eq!(BUDGET.available(), 500.0);
    /// ```
    pub fn paid<B: RetryBudget>(&self, budget: B) -> Paid<B> {
        Paid::new(budget, self.last_retry_kind)
    }

    /// Tells the budget of a failed attempt, and of a call with its first.
    pub(crate) fn tell_budget(&mut self, failure: &Failure<'_>, policy: &Policy) {
        let is_known = mem::replace(&mut self.has_outcome, true);
        let Some(budget) = failure.budget else {
            return;
        };
        if !is_known {
            (0..failure.inputs.times).for_each(|_| budget.called());
        }
        let verdict = failure.verdict;
        match verdict.kind().and(verdict.kind_seen()) {
            // If retries are off, there is nothing to pay for.
            Some(kind) if policy.is_enabled() => {
                if let Some(budget) = failure.payer(kind) {
                    (0..failure.inputs.times).for_each(|_| budget.failed(kind));
                }
            }
            None if verdict.basis() == Basis::Answer => {
                (0..failure.inputs.times).for_each(|number| {
                    let followed = self
                        .last_retry_kind
                        .filter(|_| number < failure.inputs.followed);
                    budget.answered(followed);
                });
            }
            _ => {}
        }
    }

    /// Tells budget, breaker and limiter of the failed attempt with that number, where what follows is decided later.
    pub(crate) fn tell_of_failure(
        &mut self,
        attempt: u32,
        failure: &mut Failure<'_>,
        policy: &Policy,
    ) {
        let seen = self.at(attempt);
        seen.tell_breaker(failure);
        seen.tell_limiter(failure);
        self.tell_budget(failure, policy);
    }

    /// Tells the breaker that let the attempt through how it ended.
    pub(crate) fn tell_breaker(&self, failure: &mut Failure<'_>) {
        let Some((permit, report)) = failure.permit.take() else {
            return;
        };
        let seen = Seen::of_end(End::of_failure(failure.verdict));
        if let Some(transition) = permit.record(seen) {
            let (name, observe) = (failure.site.name(), reborrow(&mut failure.observe));
            report(self, name, transition, Some(failure.error), observe);
        }
    }

    /// Reports that the call's attempt changed the state of its breaker: what
    /// [`Permit::transition`](crate::Permit::transition) or [`Permit::succeeded`](crate::Permit::succeeded) returned.
    /// [`failed_with`](Self::failed_with) reports what a failure changed. The error of the attempt, if it failed, is
    /// shown where the breaker opens.
    #[cold]
    #[inline(never)]
    pub fn breaker_changed(
        &self,
        call: &str,
        transition: Transition,
        error: Option<&dyn fmt::Display>,
        observe: Option<Observe<'_>>,
    ) {
        let error = error.map(shown);
        let error = error.as_ref().map(|error| error as _);
        let data = match transition {
            Transition::Opened { cause, open_for } => EventData::BreakerOpened {
                open_for,
                error,
                cause,
            },
            Transition::HalfOpened => EventData::BreakerHalfOpened,
            Transition::Closed => EventData::BreakerClosed,
        };
        self.report(call, data, observe);
    }

    /// Tells the limiter that the attempt has a place with how it ended.
    pub(super) fn tell_limiter(&self, failure: &mut Failure<'_>) {
        let Some((place, report)) = failure.place.as_mut() else {
            return;
        };
        let end = End::of_failure(failure.verdict);
        if let Some(changes) = place.leave(end) {
            let (name, observe) = (failure.site.name(), reborrow(&mut failure.observe));
            report(self, name, changes, observe);
        }
    }

    /// Reports what the end of the call's attempt changed about its limiter: what [`Place::succeeded`] returned.
    /// [`failed_with`](Self::failed_with) reports what a failure changed.
    #[cold]
    #[inline(never)]
    pub fn limiter_changed(
        &self,
        call: &str,
        changes: LimiterChanges,
        mut observe: Option<Observe<'_>>,
    ) {
        for change in changes {
            let data = match change {
                LimiterChange::Paused { pause } => EventData::LimiterPaused { pause },
                LimiterChange::Resumed => EventData::LimiterResumed,
                LimiterChange::Limit(limit) => EventData::LimitChanged { limit },
                LimiterChange::Rate(rate) => EventData::RateChanged { rate },
            };
            self.report(call, data, reborrow(&mut observe));
        }
    }

    /// Reports that the attempt that is about to begin has to wait for its turn with the limiter, unless its turn has
    /// come already. Returns whether it has to.
    #[cold]
    #[inline(never)]
    pub fn waits<L>(&self, call: &str, place: &mut Place<L>, observe: Option<Observe<'_>>) -> bool {
        let data = match place.poll(Waker::noop()) {
            Turn::Begin => return false,
            Turn::Rejected | Turn::Full => return true,
            Turn::Wait { ahead, at_least } => EventData::Waiting { ahead, at_least },
        };
        self.report(call, data, observe);
        true
    }

    /// Reports that the turn of an attempt has come, after what [`Place::wait`] returned.
    #[cold]
    #[inline(never)]
    pub fn waited(&self, call: &str, waited: Duration, observe: Option<Observe<'_>>) {
        self.report(call, EventData::Waited { waited }, observe);
    }
}
