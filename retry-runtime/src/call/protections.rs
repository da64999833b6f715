use crate::admission::AdmissionControl;
use crate::budget::retry_budget::RetryBudget;
use crate::opaque_debug::opaque_debug;

/// The budget, breaker and limiter of a call. Calls share them so that retries don't make an outage worse.
pub trait Protects {
    /// The protections, each of which is optional.
    fn refs(&self) -> ProtectionRefs<'_>;

    /// Returns true if there are no protections. A call then needs no step before its attempt.
    #[doc(hidden)]
    #[inline]
    fn are_none(&self) -> bool {
        false
    }
}

/// References to the protections of a call.
#[derive(Clone, Copy, Default)]
pub struct ProtectionRefs<'a> {
    /// The budget that pays for retries.
    pub budget: Option<&'a dyn RetryBudget>,
    /// The breaker that admits attempts.
    pub breaker: Option<&'a dyn AdmissionControl>,
    /// The limiter that attempts wait for.
    pub limiter: Option<&'a dyn AdmissionControl>,
}

/// No protections.
impl Protects for () {
    #[inline]
    fn are_none(&self) -> bool {
        true
    }

    #[inline]
    fn refs(&self) -> ProtectionRefs<'_> {
        ProtectionRefs::default()
    }
}

impl<P: Protects + ?Sized> Protects for &P {
    #[inline]
    fn are_none(&self) -> bool {
        (**self).are_none()
    }

    fn refs(&self) -> ProtectionRefs<'_> {
        (**self).refs()
    }
}

type AsBudget<B> = fn(&B) -> Option<&dyn RetryBudget>;
type AsBreaker<R> = fn(&R) -> Option<&dyn AdmissionControl>;
type AsLimiter<L> = fn(&L) -> Option<&dyn AdmissionControl>;

/// A budget, a breaker and a limiter, each optional.
///
/// The type parameters have no bounds, so that the compiler reports an unmet bound only once, at the setter that takes
/// the value.
#[derive(Clone, Copy)]
pub struct Protections<B = (), R = (), L = ()> {
    budget: (B, AsBudget<B>),
    breaker: (R, AsBreaker<R>),
    limiter: (L, AsLimiter<L>),
    /// True if any is set.
    has_any: bool,
}

impl Protections {
    /// No protections.
    #[expect(clippy::new_without_default, reason = "only for generated code")]
    #[inline]
    pub const fn new() -> Self {
        Self {
            budget: ((), |()| None),
            breaker: ((), |()| None),
            limiter: ((), |()| None),
            has_any: false,
        }
    }
}

impl<B, R, L> Protections<B, R, L> {
    /// Sets the budget.
    #[inline]
    pub fn budget<V: RetryBudget>(self, budget: V) -> Protections<V, R, L> {
        Protections {
            budget: (budget, |budget| Some(budget)),
            breaker: self.breaker,
            limiter: self.limiter,
            has_any: true,
        }
    }

    /// Sets the breaker.
    #[inline]
    pub fn breaker<V: AdmissionControl>(self, breaker: V) -> Protections<B, V, L> {
        Protections {
            budget: self.budget,
            breaker: (breaker, |breaker| Some(breaker)),
            limiter: self.limiter,
            has_any: true,
        }
    }

    /// Sets the limiter.
    #[inline]
    pub fn limiter<V: AdmissionControl>(self, limiter: V) -> Protections<B, R, V> {
        Protections {
            budget: self.budget,
            breaker: self.breaker,
            limiter: (limiter, |limiter| Some(limiter)),
            has_any: true,
        }
    }
}

impl<B, R, L> Protects for Protections<B, R, L> {
    #[inline]
    fn are_none(&self) -> bool {
        !self.has_any
    }

    fn refs(&self) -> ProtectionRefs<'_> {
        ProtectionRefs {
            budget: (self.budget.1)(&self.budget.0),
            breaker: (self.breaker.1)(&self.breaker.0),
            limiter: (self.limiter.1)(&self.limiter.0),
        }
    }
}

/// Borrowed protections, for chains and your own loops.
#[derive(Clone, Copy, Default)]
pub struct BorrowedProtections<'a> {
    pub(crate) budget: Option<&'a (dyn RetryBudget + Send + Sync)>,
    pub(crate) breaker: Option<&'a (dyn AdmissionControl + Send + Sync)>,
    pub(crate) limiter: Option<&'a (dyn AdmissionControl + Send + Sync)>,
}

impl Protects for BorrowedProtections<'_> {
    #[inline]
    fn are_none(&self) -> bool {
        self.budget.is_none() && self.breaker.is_none() && self.limiter.is_none()
    }

    fn refs(&self) -> ProtectionRefs<'_> {
        ProtectionRefs {
            budget: self.budget.map(|budget| budget as _),
            breaker: self.breaker.map(|breaker| breaker as _),
            limiter: self.limiter.map(|limiter| limiter as _),
        }
    }
}

opaque_debug! {
    BorrowedProtections ['a];
    ProtectionRefs ['a];
    Protections [B, R, L];
}
