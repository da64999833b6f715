use crate::call::guards::{Guards, Protections};
use crate::chain::hook::HookKey;
use crate::chain::observer::ObserverKey;
use crate::chain::span::SpanKey;
use crate::chain::timeout::TimeoutKey;
use crate::key::{Key, Unnamed, with};
use crate::time::cancel::MayAbort;

/// The keys of a chain that calls, batches and plans share: `budget`, `breaker`, `limiter`, `name`, `observe`, `span`
/// and `idempotent`.
///
/// Each type parameter is [`Unnamed`], or tells the type of what was named. What is not named costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Keys<G = Protections, N = Unnamed, O = Unnamed, S = Unnamed> {
    pub(crate) protections: G,
    pub(crate) name: N,
    pub(crate) observer: O,
    pub(crate) span: S,
    pub(crate) idempotent: bool,
}

/// The [`Keys`] of a chain, for functions that are generic over chains.
pub trait SharedKeys: Sized {
    #[doc(hidden)]
    type Guards: Guards;
    #[doc(hidden)]
    type Name: Key<Value: AsRef<str>>;
    #[doc(hidden)]
    type Observer: ObserverKey;
    #[doc(hidden)]
    type Span: SpanKey;

    #[doc(hidden)]
    fn into_keys(self) -> KeysOf<Self>;
    #[doc(hidden)]
    fn keys(&self) -> &KeysOf<Self>;
}

/// The keys that a chain has.
pub(crate) type KeysOf<K> = Keys<
    <K as SharedKeys>::Guards,
    <K as SharedKeys>::Name,
    <K as SharedKeys>::Observer,
    <K as SharedKeys>::Span,
>;

/// The key that rejects calls, if a chain has any.
pub(crate) type Rejecting<K> = <BreakerOf<K> as Key>::Or<LimiterOf<K>>;
type BreakerOf<K> = <<K as SharedKeys>::Guards as Guards>::Breaker;
type LimiterOf<K> = <<K as SharedKeys>::Guards as Guards>::Limiter;

/// The key that may end a call after its pause, if a chain has any.
pub(crate) type Ending<C, K> = <<C as MayAbort>::Key as Key>::Or<Rejecting<K>>;

impl<G, N, O, S> SharedKeys for Keys<G, N, O, S>
where
    G: Guards,
    N: Key<Value: AsRef<str>>,
    O: ObserverKey,
    S: SpanKey,
{
    type Guards = G;
    type Name = N;
    type Observer = O;
    type Span = S;

    #[inline]
    fn into_keys(self) -> Self {
        self
    }

    fn keys(&self) -> &Self {
        self
    }
}

impl Keys {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            protections: Protections::new(),
            name: Unnamed,
            observer: Unnamed,
            span: Unnamed,
            idempotent: true,
        }
    }
}

impl<G, N, O, S> Keys<G, N, O, S> {
    pub(super) fn with_protections<H>(self, other: impl FnOnce(G) -> H) -> Keys<H, N, O, S> {
        with!(self: Keys { protections: other(self.protections) } name observer span idempotent)
    }
}

/// The keys of a chain that only single calls have: `until`, `timeout`, `fallback`, `before_pause` and `before_retry`.
///
/// Each type parameter is [`Unnamed`], or tells the type of what was named.
#[derive(Clone, Copy, Debug)]
pub struct CallKeys<U = Unnamed, T = Unnamed, F = Unnamed, B = Unnamed, R = Unnamed> {
    pub(crate) until: U,
    pub(crate) timeout: T,
    pub(crate) fallback: F,
    pub(crate) before_pause: B,
    pub(crate) before_retry: R,
}

impl CallKeys {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            until: Unnamed,
            timeout: Unnamed,
            fallback: Unnamed,
            before_pause: Unnamed,
            before_retry: Unnamed,
        }
    }
}

/// The [`CallKeys`] of a chain, for functions that are generic over chains.
pub trait SingleKeys: Sized {
    #[doc(hidden)]
    type Until;
    #[doc(hidden)]
    type Timeout: TimeoutKey;
    #[doc(hidden)]
    type Fallback: Key;
    #[doc(hidden)]
    type BeforePause: HookKey;
    #[doc(hidden)]
    type BeforeRetry: HookKey;

    #[doc(hidden)]
    fn into_keys(self) -> CallKeysOf<Self>;
}

/// The keys that a call's chain has.
pub(crate) type CallKeysOf<A> = CallKeys<
    <A as SingleKeys>::Until,
    <A as SingleKeys>::Timeout,
    <A as SingleKeys>::Fallback,
    <A as SingleKeys>::BeforePause,
    <A as SingleKeys>::BeforeRetry,
>;

/// What runs between an error and its retry, if anything does.
pub(crate) type HooksOf<A> =
    <<A as SingleKeys>::BeforePause as Key>::Or<<A as SingleKeys>::BeforeRetry>;

impl<U, T: TimeoutKey, F: Key, B: HookKey, R: HookKey> SingleKeys for CallKeys<U, T, F, B, R> {
    type Until = U;
    type Timeout = T;
    type Fallback = F;
    type BeforePause = B;
    type BeforeRetry = R;

    #[inline]
    fn into_keys(self) -> Self {
        self
    }
}
