use core::fmt;

use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;

/// The protections that calls share so that retries don't make an outage worse, as the driver uses them.
pub trait Protects {
    /// The budget that pays for retries.
    fn budget(&self) -> Option<&dyn RetryBudget>;
    /// The breaker that admits attempts.
    fn breaker(&self) -> Option<&dyn AdmissionControl>;
    /// The limiter that attempts wait for.
    fn limiter(&self) -> Option<&dyn AdmissionControl>;

    /// Returns true if there are none: a call then needs no step before its attempt.
    #[doc(hidden)]
    #[inline]
    fn are_none(&self) -> bool {
        false
    }
}

/// No protections.
impl Protects for () {
    #[inline]
    fn are_none(&self) -> bool {
        true
    }

    fn budget(&self) -> Option<&dyn RetryBudget> {
        None
    }

    fn breaker(&self) -> Option<&dyn AdmissionControl> {
        None
    }

    fn limiter(&self) -> Option<&dyn AdmissionControl> {
        None
    }
}

impl<P: Protects + ?Sized> Protects for &P {
    #[inline]
    fn are_none(&self) -> bool {
        (**self).are_none()
    }

    fn budget(&self) -> Option<&dyn RetryBudget> {
        (**self).budget()
    }

    fn breaker(&self) -> Option<&dyn AdmissionControl> {
        (**self).breaker()
    }

    fn limiter(&self) -> Option<&dyn AdmissionControl> {
        (**self).limiter()
    }
}

type AsBudget<B> = fn(&B) -> Option<&dyn RetryBudget>;
type AsBreaker<R> = fn(&R) -> Option<&dyn AdmissionControl>;
type AsLimiter<L> = fn(&L) -> Option<&dyn AdmissionControl>;

/// A budget, a breaker and a limiter, each optional.
///
/// The types have no bounds: an error about one appears once, at the setter that takes the value.
#[derive(Clone, Copy)]
pub struct Protections<B = (), R = (), L = ()> {
    budget: (B, AsBudget<B>),
    breaker: (R, AsBreaker<R>),
    limiter: (L, AsLimiter<L>),
    /// True if any is set.
    is_any: bool,
}

impl Protections {
    /// No protections.
    #[inline]
    pub const fn new() -> Self {
        Self {
            budget: ((), |()| None),
            breaker: ((), |()| None),
            limiter: ((), |()| None),
            is_any: false,
        }
    }
}

impl Default for Protections {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, R, L> Protections<B, R, L> {
    /// Sets the budget.
    #[inline]
    pub fn budget<V: RetryBudget>(self, budget: V) -> Protections<V, R, L> {
        let Self {
            breaker, limiter, ..
        } = self;
        Protections {
            budget: (budget, |budget| Some(budget)),
            breaker,
            limiter,
            is_any: true,
        }
    }

    /// Sets the breaker.
    #[inline]
    pub fn breaker<V: AdmissionControl>(self, breaker: V) -> Protections<B, V, L> {
        let Self {
            budget, limiter, ..
        } = self;
        Protections {
            budget,
            breaker: (breaker, |breaker| Some(breaker)),
            limiter,
            is_any: true,
        }
    }

    /// Sets the limiter.
    #[inline]
    pub fn limiter<V: AdmissionControl>(self, limiter: V) -> Protections<B, R, V> {
        let Self {
            budget, breaker, ..
        } = self;
        Protections {
            budget,
            breaker,
            limiter: (limiter, |limiter| Some(limiter)),
            is_any: true,
        }
    }
}

impl<B, R, L> Protects for Protections<B, R, L> {
    #[inline]
    fn are_none(&self) -> bool {
        !self.is_any
    }

    #[inline]
    fn budget(&self) -> Option<&dyn RetryBudget> {
        (self.budget.1)(&self.budget.0)
    }

    #[inline]
    fn breaker(&self) -> Option<&dyn AdmissionControl> {
        (self.breaker.1)(&self.breaker.0)
    }

    #[inline]
    fn limiter(&self) -> Option<&dyn AdmissionControl> {
        (self.limiter.1)(&self.limiter.0)
    }
}

impl<B, R, L> fmt::Debug for Protections<B, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protections").finish_non_exhaustive()
    }
}
