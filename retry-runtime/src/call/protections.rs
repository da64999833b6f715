//! What calls share so that retries don't make an outage worse, as far as a call has any of it.

use crate::breaker::circuit_breaker::CircuitBreaker;
use crate::budget::retry_budget::RetryBudget;
use crate::classify::conversions::FromRejected;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::key::{Key, Unnamed, with};
use crate::limiter::Limiter;

/// What the attempts of calls share: a budget, a breaker and a limiter, as far as their keys are named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Protections<B = Unnamed, R = Unnamed, L = Unnamed> {
    pub(crate) budget: B,
    pub(crate) breaker: R,
    pub(crate) limiter: L,
}

impl Protections {
    /// No protection.
    #[inline]
    pub const fn new() -> Self {
        Self {
            budget: Unnamed,
            breaker: Unnamed,
            limiter: Unnamed,
        }
    }
}

impl<B, R, L> Protections<B, R, L> {
    /// These protections with that budget, or without one if it is `None`.
    pub fn budget<V: RetryBudget + Clone>(
        self,
        budget: impl Into<Option<V>>,
    ) -> Protections<Option<V>, R, L> {
        with!(self: Protections { budget: budget.into() } breaker limiter)
    }

    /// These protections with that breaker, or without one if it is `None`.
    pub fn breaker<V: CircuitBreaker + Clone>(
        self,
        breaker: impl Into<Option<V>>,
    ) -> Protections<B, Option<V>, L> {
        with!(self: Protections { breaker: breaker.into() } budget limiter)
    }

    /// These protections with that limiter, or without one if it is `None`.
    pub fn limiter<V: Limiter + Clone>(
        self,
        limiter: impl Into<Option<V>>,
    ) -> Protections<B, R, Option<V>> {
        with!(self: Protections { limiter: limiter.into() } budget breaker)
    }
}

/// [`Protections`], for what is generic over all of them at once.
pub trait Guards {
    /// What retries are paid from.
    type Budget: Key<Value: RetryBudget + Clone>;
    /// What lets attempts through.
    type Breaker: Key<Value: CircuitBreaker + Clone>;
    /// What attempts wait for.
    type Limiter: Key<Value: Limiter + Clone>;

    /// Each by itself.
    fn protections(&self) -> &Protections<Self::Budget, Self::Breaker, Self::Limiter>;
}

impl<B, R, L: Key<Value: Limiter>> Protections<B, R, L> {
    /// Whether a limiter takes care of throttled retries, so that a budget need not pay for them.
    pub(crate) fn handle_throttling(&self) -> bool {
        let limiter = self.limiter.get();
        limiter.is_some_and(Limiter::handles_throttling)
    }
}

impl<B, R, L> Guards for Protections<B, R, L>
where
    B: Key<Value: RetryBudget + Clone>,
    R: Key<Value: CircuitBreaker + Clone>,
    L: Key<Value: Limiter + Clone>,
{
    type Budget = B;
    type Breaker = R;
    type Limiter = L;

    #[inline]
    fn protections(&self) -> &Self {
        self
    }
}

impl<G: Guards> Guards for &G {
    type Budget = G::Budget;
    type Breaker = G::Breaker;
    type Limiter = G::Limiter;

    #[inline]
    fn protections(&self) -> &Protections<G::Budget, G::Breaker, G::Limiter> {
        (**self).protections()
    }
}

/// How a call ends with an error of type `E` whose first attempt may not begin.
#[diagnostic::on_unimplemented(
    message = "`breaker` and `limiter` need an error type that a rejection converts to, and `{E}` is not one",
    label = "`{E}` has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {E}`, or remove the key"
)]
pub trait Rejects<E>: Key {
    /// The error, where something is named that rejects calls.
    fn rejected(by: RejectedBy) -> Option<E>;
}

#[diagnostic::do_not_recommend]
impl<E> Rejects<E> for Unnamed {
    #[inline]
    fn rejected(_: RejectedBy) -> Option<E> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<V, E: FromRejected> Rejects<E> for Option<V> {
    fn rejected(by: RejectedBy) -> Option<E> {
        Some(E::from_rejected(Rejected::new(by)))
    }
}
