use crate::chain::breaker::MayAdmit;
use crate::chain::budget::MayPay;
use crate::chain::key::{Named, Unnamed};
use crate::chain::limiter::MayWait;
use crate::chain::name::MayName;
use crate::chain::observer::MayObserve;

/// The keys of a chain that calls, batches and plans share: `name`, `budget`, `breaker`, `limiter`, `observe` and
/// `idempotent`.
///
/// Each type parameter is [`Unnamed`], or [`Named`] with the key's value. What is not named costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Keys<N = Unnamed, B = Unnamed, R = Unnamed, O = Unnamed, M = Unnamed> {
    pub(crate) name: N,
    pub(crate) budget: B,
    pub(crate) breaker: R,
    pub(crate) limiter: M,
    pub(crate) observer: O,
    pub(crate) idempotent: bool,
}

/// The [`Keys`] of a chain, for functions that are generic over chains.
pub trait SharedKeys: Sized {
    #[doc(hidden)]
    type Name: MayName;
    #[doc(hidden)]
    type Budget: MayPay;
    #[doc(hidden)]
    type Breaker: MayAdmit;
    #[doc(hidden)]
    type Observer: MayObserve;
    #[doc(hidden)]
    type Limiter: MayWait;

    #[doc(hidden)]
    fn into_keys(self) -> KeysOf<Self>;
}

/// The keys that a chain has.
pub(crate) type KeysOf<K> = Keys<
    <K as SharedKeys>::Name,
    <K as SharedKeys>::Budget,
    <K as SharedKeys>::Breaker,
    <K as SharedKeys>::Observer,
    <K as SharedKeys>::Limiter,
>;

impl<N, B, R, O, M> SharedKeys for Keys<N, B, R, O, M>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    O: MayObserve,
    M: MayWait,
{
    type Name = N;
    type Budget = B;
    type Breaker = R;
    type Observer = O;
    type Limiter = M;

    fn into_keys(self) -> Self {
        self
    }
}

/// The [`Keys`] of a chain that threads share: of a blocking batch.
pub trait SharedByThreads:
    SharedKeys<
        Budget: Sync + MayPay<Paid: Send>,
        Breaker: Sync + MayAdmit<Pass: Send>,
        Limiter: Sync + MayWait<Standing: Send>,
        Observer: Send,
    >
{
}

#[diagnostic::do_not_recommend]
impl<K> SharedByThreads for K where
    K: SharedKeys<
            Budget: Sync + MayPay<Paid: Send>,
            Breaker: Sync + MayAdmit<Pass: Send>,
            Limiter: Sync + MayWait<Standing: Send>,
            Observer: Send,
        >
{
}

impl Keys {
    pub(crate) const fn new() -> Self {
        Self {
            name: Unnamed,
            budget: Unnamed,
            breaker: Unnamed,
            limiter: Unnamed,
            observer: Unnamed,
            idempotent: true,
        }
    }
}

impl<B, R, O, M> Keys<Unnamed, B, R, O, M> {
    pub(super) fn named<S>(self, name: S) -> Keys<Named<S>, B, R, O, M> {
        Keys {
            name: Named(name),
            budget: self.budget,
            breaker: self.breaker,
            limiter: self.limiter,
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, R, O, M> Keys<N, Unnamed, R, O, M> {
    pub(super) fn paid_from<P>(self, budget: P) -> Keys<N, Named<P>, R, O, M> {
        Keys {
            name: self.name,
            budget: Named(budget),
            breaker: self.breaker,
            limiter: self.limiter,
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, B, O, M> Keys<N, B, Unnamed, O, M> {
    pub(super) fn admitted_by<K>(self, breaker: K) -> Keys<N, B, Named<K>, O, M> {
        Keys {
            name: self.name,
            budget: self.budget,
            breaker: Named(breaker),
            limiter: self.limiter,
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}

impl<N, B, R, M> Keys<N, B, R, Unnamed, M> {
    pub(super) fn observed_by<S>(self, observer: S) -> Keys<N, B, R, Named<S>, M> {
        Keys {
            name: self.name,
            budget: self.budget,
            breaker: self.breaker,
            limiter: self.limiter,
            observer: Named(observer),
            idempotent: self.idempotent,
        }
    }
}

impl<N, B, R, O> Keys<N, B, R, O, Unnamed> {
    pub(super) fn limited_by<L>(self, limiter: L) -> Keys<N, B, R, O, Named<L>> {
        Keys {
            name: self.name,
            budget: self.budget,
            breaker: self.breaker,
            limiter: Named(limiter),
            observer: self.observer,
            idempotent: self.idempotent,
        }
    }
}
