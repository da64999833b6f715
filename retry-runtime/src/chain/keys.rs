use crate::chain::breaker::MayAdmit;
use crate::chain::budget::MayPay;
use crate::chain::key::{Named, Unnamed};
use crate::chain::name::MayName;
use crate::chain::observer::MayObserve;

/// The keys of a chain that calls, batches and plans share: `name`, `budget`, `breaker`, `observe` and `idempotent`.
///
/// Each type parameter is [`Unnamed`], or [`Named`] with the key's value. What is not named costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Keys<N = Unnamed, B = Unnamed, R = Unnamed, O = Unnamed> {
    pub(crate) name: N,
    pub(crate) budget: B,
    pub(crate) breaker: R,
    pub(crate) observer: O,
    pub(crate) idempotent: bool,
}

/// The [`Keys`] of a chain, for functions that are generic over chains.
pub trait SharedKeys {
    #[doc(hidden)]
    type Name: MayName;
    #[doc(hidden)]
    type Budget: MayPay;
    #[doc(hidden)]
    type Breaker: MayAdmit;
    #[doc(hidden)]
    type Observer: MayObserve;

    #[doc(hidden)]
    fn into_keys(self) -> Keys<Self::Name, Self::Budget, Self::Breaker, Self::Observer>;
}

impl<N: MayName, B: MayPay, R: MayAdmit, O: MayObserve> SharedKeys for Keys<N, B, R, O> {
    type Name = N;
    type Budget = B;
    type Breaker = R;
    type Observer = O;

    fn into_keys(self) -> Self {
        self
    }
}

impl Keys {
    pub(crate) const fn new() -> Self {
        Self {
            name: Unnamed,
            budget: Unnamed,
            breaker: Unnamed,
            observer: Unnamed,
            idempotent: true,
        }
    }
}

impl<B, R, O> Keys<Unnamed, B, R, O> {
    pub(super) fn named<S>(self, name: S) -> Keys<Named<S>, B, R, O> {
        Keys {
            name: Named(name),
            budget: self.budget,
            breaker: self.breaker,
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, R, O> Keys<N, Unnamed, R, O> {
    pub(super) fn paid_from<P>(self, budget: P) -> Keys<N, Named<P>, R, O> {
        Keys {
            name: self.name,
            budget: Named(budget),
            breaker: self.breaker,
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, B, O> Keys<N, B, Unnamed, O> {
    pub(super) fn admitted_by<K>(self, breaker: K) -> Keys<N, B, Named<K>, O> {
        Keys {
            name: self.name,
            budget: self.budget,
            breaker: Named(breaker),
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, B, R> Keys<N, B, R, Unnamed> {
    pub(super) fn observed_by<S>(self, observer: S) -> Keys<N, B, R, Named<S>> {
        Keys {
            name: self.name,
            budget: self.budget,
            breaker: self.breaker,
            observer: Named(observer),
            idempotent: self.idempotent,
        }
    }
}
