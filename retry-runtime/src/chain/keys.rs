use alloc::boxed::Box;
use core::borrow::Borrow;

use crate::call::protections::Protections;
use crate::chain::fallback::FallbackKey;
use crate::chain::hook::HookKey;
use crate::chain::key::Key;
use crate::chain::observer::Observes;
use crate::policy::Policy;
use crate::time::cancel::Uncancelled;
use crate::time::default_timer::DefaultTimer;

/// The keys of a chain that calls, batches and plans share, and its policy: `name`, `observe`, `cancel` or `abort`, `timer`,
/// `idempotent` and `span`.
///
/// The type parameters of the first two are `()`, or an `Option` of what was named. What is not named costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Keys<N = (), O = (), C = Uncancelled, W = DefaultTimer, P = Policy> {
    pub(crate) name: N,
    pub(crate) observer: O,
    pub(crate) cancel: C,
    pub(crate) timer: W,
    pub(crate) policy: P,
    pub(crate) idempotent: bool,
    pub(crate) span: bool,
}

/// The [`Keys`] of a chain, for functions that are generic over chains.
pub trait SharedKeys: Sized {
    #[doc(hidden)]
    type Name: Key<Value: AsRef<str>>;
    #[doc(hidden)]
    type Observer: Observes;
    /// The type of what ends a call early.
    type Cancel;
    /// The type of what sleeps.
    type Timer;
    #[doc(hidden)]
    type Policy: Borrow<Policy>;

    #[doc(hidden)]
    fn into_keys(self) -> KeysOf<Self>;
    #[doc(hidden)]
    fn keys_mut(&mut self) -> &mut KeysOf<Self>;
    #[doc(hidden)]
    fn is_spanned(&self) -> bool;
    #[doc(hidden)]
    fn span_name<'n>(&self, default: impl FnOnce() -> &'n str) -> Option<Box<str>>;
}

/// The keys that a chain has.
pub(crate) type KeysOf<K> = Keys<
    <K as SharedKeys>::Name,
    <K as SharedKeys>::Observer,
    <K as SharedKeys>::Cancel,
    <K as SharedKeys>::Timer,
    <K as SharedKeys>::Policy,
>;

impl<N, O, C, W, P> SharedKeys for Keys<N, O, C, W, P>
where
    N: Key<Value: AsRef<str>>,
    O: Observes,
    P: Borrow<Policy>,
{
    type Name = N;
    type Observer = O;
    type Cancel = C;
    type Timer = W;
    type Policy = P;

    #[inline]
    fn into_keys(self) -> Self {
        self
    }

    fn keys_mut(&mut self) -> &mut Self {
        self
    }

    #[inline]
    fn is_spanned(&self) -> bool {
        self.span
    }

    #[inline]
    fn span_name<'n>(&self, default: impl FnOnce() -> &'n str) -> Option<Box<str>> {
        self.span.then(|| match self.name.get() {
            Some(name) => Box::from(name.as_ref()),
            None => Box::from(default()),
        })
    }
}

impl<P> Keys<(), (), Uncancelled, DefaultTimer, P> {
    #[inline]
    pub(crate) const fn of(policy: P) -> Self {
        Self {
            name: (),
            observer: (),
            cancel: Uncancelled,
            timer: DefaultTimer,
            policy,
            idempotent: true,
            span: false,
        }
    }
}

/// The keys of a chain that only single calls have: `until`, `timeout`, `fallback`, `before_pause` and `before_retry`.
///
/// Each type parameter is `()`, or an `Option` of what was named.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallKeys<U = (), T = (), F = (), B = (), R = ()> {
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
            until: (),
            timeout: (),
            fallback: (),
            before_pause: (),
            before_retry: (),
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
    type Fallback: FallbackKey;
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

impl<U, T: Key, F: FallbackKey, B: HookKey, R: HookKey> SingleKeys for CallKeys<U, T, F, B, R> {
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

/// A key that may end a call after its pause, or that is given the error then, if a chain has any: for which the error is
/// kept.
pub trait Ends {
    /// The key.
    type Key: Key;
}

/// The breaker or the limiter.
impl<B, R: Key, L: Key> Ends for Protections<B, R, L> {
    type Key = R::Or<L>;
}

/// The hooks.
impl<U, T, F, B: Key, R: Key> Ends for CallKeys<U, T, F, B, R> {
    type Key = B::Or<R>;
}

/// A record with a field for the key `N`, which is one of the types in [`named`].
pub trait HasKey<N> {
    /// The record in which the field is a `V`.
    type With<V>;

    /// Sets the field, and leaves all others as they are.
    fn with<V>(self, value: V) -> Self::With<V>;
}

/// A record of keys `K` in which the field of the key `N` is a `V`.
pub type With<K, N, V> = <K as HasKey<N>>::With<V>;

/// Implements [`HasKey`] for the field whose type parameter is in brackets.
macro_rules! has_key {
    (
        $name:ident: $record:ident<$($before:ident,)* [$key:ident] $(, $after:ident)*>
        $($other:ident)+
    ) => {
        impl<$($before,)* $key $(, $after)*> HasKey<named::$name>
            for $record<$($before,)* $key $(, $after)*>
        {
            type With<V> = $record<$($before,)* V $(, $after)*>;

            #[inline]
            fn with<V>(self, $name: V) -> Self::With<V> {
                $record { $name, $($other: self.$other),+ }
            }
        }
    };
}

has_key!(name: Keys<[N], O, C, W, P> observer cancel timer policy idempotent span);
has_key!(observer: Keys<N, [O], C, W, P> name cancel timer policy idempotent span);
has_key!(cancel: Keys<N, O, [C], W, P> name observer timer policy idempotent span);
has_key!(timer: Keys<N, O, C, [W], P> name observer cancel policy idempotent span);
has_key!(until: CallKeys<[U], T, F, B, R> timeout fallback before_pause before_retry);
has_key!(timeout: CallKeys<U, [T], F, B, R> until fallback before_pause before_retry);
has_key!(fallback: CallKeys<U, T, [F], B, R> until timeout before_pause before_retry);
has_key!(before_pause: CallKeys<U, T, F, [B], R> until timeout fallback before_retry);
has_key!(before_retry: CallKeys<U, T, F, B, [R]> until timeout fallback before_pause);

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

    named! { name observer cancel timer }
    named! { until timeout fallback before_pause before_retry }
}
