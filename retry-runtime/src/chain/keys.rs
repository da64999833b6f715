use crate::call::protections::{Guards, Protections};
use crate::chain::hook::HookKey;
use crate::chain::observer::ObserverKey;
use crate::chain::span::SpanKey;
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
    #[doc(hidden)]
    fn keys_mut(&mut self) -> &mut KeysOf<Self>;
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

    fn keys_mut(&mut self) -> &mut Self {
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
    type Timeout: Key;
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

impl<U, T: Key, F: Key, B: HookKey, R: HookKey> SingleKeys for CallKeys<U, T, F, B, R> {
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

/// A record with a field for the key `N`, which is one of the types in [`named`].
pub trait HasKey<N> {
    /// The type of the field: [`Unnamed`], or an `Option` of what was named.
    type Key;
    /// The record in which the key names a `V`.
    type With<V>;

    /// Sets the key to a value, and leaves all others as they are.
    fn with<V>(self, value: V) -> Self::With<V>;
}

/// A record of keys `K` in which the key `N` names a `V`.
pub type With<K, N, V> = <K as HasKey<N>>::With<V>;

/// Implements [`HasKey`] for the field whose type parameter is in brackets.
macro_rules! has_key {
    (
        $name:ident: $record:ident<$($before:ident,)* [$key:ident] $(, $after:ident)*>
        beside $($other:ident)+
    ) => {
        impl<$($before,)* $key $(, $after)*> HasKey<named::$name>
            for $record<$($before,)* $key $(, $after)*>
        {
            type Key = $key;
            type With<V> = $record<$($before,)* Option<V> $(, $after)*>;

            #[inline]
            fn with<V>(self, $name: V) -> Self::With<V> {
                with!(self: $record { $name: Some($name) } $($other)+)
            }
        }
    };
}

/// Finds keys of protections among all keys.
macro_rules! has_protections {
    ($($name:ident)+) => {$(
        impl<G: HasKey<named::$name>, N, O, S> HasKey<named::$name> for Keys<G, N, O, S> {
            type Key = G::Key;
            type With<V> = Keys<G::With<V>, N, O, S>;

            #[inline]
            fn with<V>(self, $name: V) -> Self::With<V> {
                let protections = self.protections.with($name);
                with!(self: Keys { protections } name observer span idempotent)
            }
        }
    )+};
}

has_key!(budget: Protections<[B], R, L> beside breaker limiter);
has_key!(breaker: Protections<B, [R], L> beside budget limiter);
has_key!(limiter: Protections<B, R, [L]> beside budget breaker);
has_protections! { budget breaker limiter }
has_key!(name: Keys<G, [N], O, S> beside protections observer span idempotent);
has_key!(observer: Keys<G, N, [O], S> beside protections name span idempotent);
has_key!(span: Keys<G, N, O, [S]> beside protections name observer idempotent);
has_key!(until: CallKeys<[U], T, F, B, R> beside timeout fallback before_pause before_retry);
has_key!(timeout: CallKeys<U, [T], F, B, R> beside until fallback before_pause before_retry);
has_key!(fallback: CallKeys<U, T, [F], B, R> beside until timeout before_pause before_retry);
has_key!(before_pause: CallKeys<U, T, F, [B], R> beside until timeout fallback before_retry);
has_key!(before_retry: CallKeys<U, T, F, B, [R]> beside until timeout fallback before_pause);

/// Types that stand for the keys of a chain, to say which field of a record [`HasKey`] is about.
#[expect(non_camel_case_types, reason = "named as users write keys")]
pub mod named {
    macro_rules! named {
        ($($key:ident)+) => {$(
            #[doc = concat!("Stands for the field `", stringify!($key), "`.")]
            #[derive(Debug)]
            pub enum $key {}
        )+};
    }

    named! { budget breaker limiter name observer span }
    named! { until timeout fallback before_pause before_retry }
}
