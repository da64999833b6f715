use crate::chain::breaker::MayAdmit;
use crate::chain::budget::MayPay;
use crate::chain::key::{Named, Unnamed};
use crate::chain::limiter::MayWait;
use crate::chain::name::MayName;
use crate::chain::observer::MayObserve;
use crate::chain::span::MayOpenSpans;

/// The keys of a chain that calls, batches and plans share: `name`, `budget`, `breaker`, `limiter`, `observe`, `span`
/// and `idempotent`.
///
/// Each type parameter is [`Unnamed`], or [`Named`] with the key's value. What is not named costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Keys<N = Unnamed, B = Unnamed, R = Unnamed, O = Unnamed, M = Unnamed, S = Unnamed> {
    pub(crate) name: N,
    pub(crate) budget: B,
    pub(crate) breaker: R,
    pub(crate) limiter: M,
    pub(crate) observer: O,
    pub(crate) span: S,
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
    type Span: MayOpenSpans;

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
    <K as SharedKeys>::Span,
>;

impl<N, B, R, O, M, S> SharedKeys for Keys<N, B, R, O, M, S>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    O: MayObserve,
    M: MayWait,
    S: MayOpenSpans,
{
    type Name = N;
    type Budget = B;
    type Breaker = R;
    type Observer = O;
    type Limiter = M;
    type Span = S;

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
            span: Unnamed,
            idempotent: true,
        }
    }
}

impl<N, B, R, O, M, S> Keys<N, B, R, O, M, S> {
    /// Naming a key changes its type, which `..` can't.
    fn with<N2, B2, R2, O2, M2, S2>(
        self,
        named: impl FnOnce(N, B, R, O, M, S) -> (N2, B2, R2, O2, M2, S2),
    ) -> Keys<N2, B2, R2, O2, M2, S2> {
        let (name, budget, breaker, observer, limiter, span) = named(
            self.name,
            self.budget,
            self.breaker,
            self.observer,
            self.limiter,
            self.span,
        );
        Keys {
            name,
            budget,
            breaker,
            limiter,
            observer,
            span,
            idempotent: self.idempotent,
        }
    }
}

impl<B, R, O, M, S> Keys<Unnamed, B, R, O, M, S> {
    pub(super) fn named<V>(self, name: V) -> Keys<Named<V>, B, R, O, M, S> {
        self.with(|Unnamed, budget, breaker, observer, limiter, span| {
            (Named(name), budget, breaker, observer, limiter, span)
        })
    }
}

impl<N, R, O, M, S> Keys<N, Unnamed, R, O, M, S> {
    pub(super) fn paid_from<V>(self, budget: V) -> Keys<N, Named<V>, R, O, M, S> {
        self.with(|name, Unnamed, breaker, observer, limiter, span| {
            (name, Named(budget), breaker, observer, limiter, span)
        })
    }
}

impl<N, B, O, M, S> Keys<N, B, Unnamed, O, M, S> {
    pub(super) fn admitted_by<V>(self, breaker: V) -> Keys<N, B, Named<V>, O, M, S> {
        self.with(|name, budget, Unnamed, observer, limiter, span| {
            (name, budget, Named(breaker), observer, limiter, span)
        })
    }
}

impl<N, B, R, M, S> Keys<N, B, R, Unnamed, M, S> {
    pub(super) fn observed_by<V>(self, observer: V) -> Keys<N, B, R, Named<V>, M, S> {
        self.with(|name, budget, breaker, Unnamed, limiter, span| {
            (name, budget, breaker, Named(observer), limiter, span)
        })
    }
}

impl<N, B, R, O, S> Keys<N, B, R, O, Unnamed, S> {
    pub(super) fn limited_by<V>(self, limiter: V) -> Keys<N, B, R, O, Named<V>, S> {
        self.with(|name, budget, breaker, observer, Unnamed, span| {
            (name, budget, breaker, observer, Named(limiter), span)
        })
    }
}

#[cfg(feature = "tracing")]
impl<N, B, R, O, M> Keys<N, B, R, O, M> {
    pub(super) fn in_spans(self, is_on: bool) -> Keys<N, B, R, O, M, Named<bool>> {
        self.with(|name, budget, breaker, observer, limiter, Unnamed| {
            (name, budget, breaker, observer, limiter, Named(is_on))
        })
    }
}
