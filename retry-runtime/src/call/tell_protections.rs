//! Records a failure on the budget, the breaker and the limiter that the call shares with others, and reports their
//! state changes.

use core::fmt;
use core::mem;
use core::time::Duration;

use retry_classify::macro_support::{Basis, shown};
use retry_classify::{Kind, Verdict};

use crate::admission::change::{Change, Changes, Transition};
use crate::admission::outcome::AttemptOutcome;
use crate::budget::retry_budget::{Paid, RetryBudget};
use crate::call::failure::Failure;
use crate::call::state::Call;
use crate::observe::{EventData, Observe, reborrow};
use crate::policy::Policy;

impl Call {
    /// Credits a budget because the call succeeded, or made progress before it is [`restarted`](Self::restarted).
    /// [`failed_with`](Self::failed_with) records everything else on the budget.
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
        if !self.has_outcome {
            budget.called();
        }
        budget.succeeded(self.last_retry_kind);
    }

    /// Credits a budget for a success after which the call goes on, and may still fail.
    #[doc(hidden)]
    #[must_use]
    pub fn credited<B: RetryBudget + ?Sized>(self, budget: &B) -> Self {
        self.credit(budget);
        Self {
            has_outcome: true,
            ..self
        }
    }

    /// The payment by `budget` for the retry that [`failed_with`](Self::failed_with) has just allowed. Dropping it
    /// before the retry starts refunds the budget.
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

    /// Records a failed attempt on the budget, and the call itself with its first attempt.
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
            // If retries are turned off, there is nothing to pay for.
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

    /// Reports the shared state changes caused by the call's attempt. If a breaker opens, the attempt's error, if any,
    /// is shown.
    #[cold]
    #[inline(never)]
    pub(crate) fn changed(
        &self,
        call: &str,
        changes: Changes,
        error: Option<&dyn fmt::Display>,
        mut observe: Option<Observe<'_>>,
    ) {
        let error = error.map(shown);
        let error = error.as_ref().map(|error| error as _);
        for change in changes.into_iter().flatten() {
            let data = match change {
                Change::Breaker(Transition::Opened { cause, open_for }) => {
                    EventData::BreakerOpened {
                        open_for,
                        error,
                        cause,
                    }
                }
                Change::Breaker(Transition::HalfOpened) => EventData::BreakerHalfOpened,
                Change::Breaker(Transition::Closed) => EventData::BreakerClosed,
                Change::Paused { pause } => EventData::LimiterPaused { pause },
                Change::Resumed => EventData::LimiterResumed,
                Change::Limit(limit) => EventData::LimitChanged { limit },
                Change::Rate(rate) => EventData::RateChanged { rate },
            };
            self.report(call, data, reborrow(&mut observe));
        }
    }

    /// Reports that a limiter has admitted an attempt after this wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn waited(&self, call: &str, waited: Duration, observe: Option<Observe<'_>>) {
        self.report(call, EventData::Waited { waited }, observe);
    }
}

impl AttemptOutcome {
    /// The outcome of an attempt that failed with this verdict.
    pub(crate) fn of_failure(verdict: Verdict) -> Self {
        match verdict.kind_seen() {
            None if verdict.basis() != Basis::Answer => Self::Ignored,
            Some(Kind::Rejected) => Self::NotBegun,
            Some(Kind::Invalid) | None => Self::Success,
            Some(kind) => Self::Failure {
                kind,
                hint: verdict.hint(),
            },
        }
    }
}
