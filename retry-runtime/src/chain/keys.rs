//! The types of a chain's keys, and the keys' requirements for the call and its error type.

use alloc::string::String;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use retry_classify::{Cancelled, Rejected, TimedOut};

use crate::call::failure::Ending;
use crate::call::next_attempt::NextAttempt;
use crate::call::stop::HookOutcome;
use crate::history::gave_up::GaveUp;
use crate::observe::{Event, Observe};
use crate::time::{AbortedBy, CancelledBy, DefaultTimer, Uncancelled};
use retry_classify::macro_support::{FromCancelled, FromRejected, FromTimedOut};

/// The function that a chain's `observe` takes. It is not an [`Observer`](crate::Observer), because the compiler infers
/// the type of a closure's argument only if a function is required.
#[diagnostic::on_unimplemented(
    message = "a chain's `observe` takes a closure, not `{Self}`",
    label = "not `FnMut(&Event<'_>)`",
    note = "to use an `Observer`, write `.observe(|event| observer.observe(event))`"
)]
pub trait ObserveFn: FnMut(&Event<'_>) {}

#[diagnostic::do_not_recommend]
impl<F: FnMut(&Event<'_>)> ObserveFn for F {}

/// The observer of a chain: a function, or `()` if there is none.
pub trait Observes {
    /// The observer.
    fn observer(&mut self) -> Option<Observe<'_>>;
}

impl Observes for () {
    #[inline]
    fn observer(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> Observes for F {
    fn observer(&mut self) -> Option<Observe<'_>> {
        Some(self)
    }
}

/// The keys of a chain that are plain values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) limit: AttemptLimit,
    /// True if ambiguous failures are not retried: the key `idempotent` is false.
    pub(crate) is_unrepeatable: bool,
    pub(crate) is_spanned: bool,
    pub(crate) ending: Ending,
    /// True with the key `abort`, false with `cancel`.
    pub(crate) aborts: bool,
}

/// The time after which an attempt is dropped: the key `timeout`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AttemptLimit {
    #[default]
    None,
    FromPolicy,
    /// Attempts have no limit of their own, but `total_timeout` drops them.
    Total,
    Own(Duration),
}

/// The keys of a chain with a type parameter each: `observe`, `cancel` or `abort`, `timer`, and `give_up`, which is
/// `()` if it is not set. Batches and plans accept neither `abort` nor `give_up`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<O = (), C = Uncancelled, W = DefaultTimer, G = ()>(
    pub(crate) O,
    pub(crate) C,
    pub(crate) W,
    pub(crate) G,
);

/// The types of a chain's [`Keys`]. A bound for functions that are generic over chains.
pub trait KeySet: Sized {
    /// The observer's type.
    type Observer: Observes;
    /// The type that cancels or aborts the call.
    type Cancel;
    /// The timer's type.
    type Timer;
    /// The type of `give_up`.
    type GiveUp;

    /// The keys.
    fn get(self) -> Keys<Self::Observer, Self::Cancel, Self::Timer, Self::GiveUp>;
}

impl<O: Observes, C, W, G> KeySet for Keys<O, C, W, G> {
    type Observer = O;
    type Cancel = C;
    type Timer = W;
    type GiveUp = G;

    #[inline]
    fn get(self) -> Self {
        self
    }
}

/// The keys of a chain that batches and plans don't have: `until`, `before_pause`, `before_retry` and `fallback`. Each
/// is `()` if it is not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hooks<U = (), B = (), R = (), F = ()>(
    pub(crate) U,
    pub(crate) B,
    pub(crate) R,
    pub(crate) F,
);

/// The types of a chain's [`Hooks`]. A bound for functions that are generic over chains.
pub trait HookSet: Sized {
    /// The type of `until`.
    type Until;
    /// The type of `before_pause`.
    type Pause;
    /// The type of `before_retry`.
    type Retry;
    /// The type of `fallback`.
    type Fallback;

    /// The hooks.
    fn get(self) -> Hooks<Self::Until, Self::Pause, Self::Retry, Self::Fallback>;
}

impl<U, B, R, F> HookSet for Hooks<U, B, R, F> {
    type Until = U;
    type Pause = B;
    type Retry = R;
    type Fallback = F;

    #[inline]
    fn get(self) -> Self {
        self
    }
}

/// Defines traits that combine bounds.
macro_rules! combined {
    ($($(#[$doc:meta])* $name:ident<$value:ident, $error:ident>: [$($bounds:tt)*])*) => {$(
        $(#[$doc])*
        pub trait $name<$value, $error>: $($bounds)* {}

        impl<$value, $error, H: $($bounds)*> $name<$value, $error> for H {}
    )*};
}
combined! {
    /// The hooks of an async call.
    AsyncHooks<T, E>: [HookSet<
        Until: Until<T>,
        Pause: AsyncHook<E>,
        Retry: AsyncHook<E>,
        Fallback: FallsBack<E, Value: Future<Output: FallbackOutcome<T, E>>>,
    >]
    /// The hooks of a blocking call.
    BlockingHooks<T, E>: [HookSet<
        Until: Until<T>,
        Pause: Hook<E, Value: HookOutcome>,
        Retry: Hook<E, Value: HookOutcome>,
        Fallback: FallsBack<E, Value: FallbackOutcome<T, E>>,
    >]
}

/// The key `until`: decides which values of type `T` are accepted.
#[diagnostic::on_unimplemented(
    message = "`until` of this chain can't check a `{T}`",
    label = "not a function from `&{T}` to `bool`"
)]
pub trait Until<T> {
    /// Returns true if the chain accepts the value.
    fn accepts(&mut self, value: &T) -> bool;
}

impl<T> Until<T> for () {
    fn accepts(&mut self, _: &T) -> bool {
        true
    }
}

#[diagnostic::do_not_recommend]
impl<T, F: FnMut(&T) -> bool> Until<T> for F {
    fn accepts(&mut self, value: &T) -> bool {
        self(value)
    }
}

/// A function that returns an `R`: an outcome, or a future of one.
///
/// `R` is a parameter because the compiler can't always prove that a future is `Send` if a closure's type determines
/// the future's type.
#[derive(Clone, Copy, Debug)]
pub struct Function<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> Function<F, R> {
    pub(super) const fn new(function: F) -> Self {
        Self(function, PhantomData)
    }
}

/// The type that a key's function returns. Separate from the traits below, because the compiler can't always prove
/// their bounds for the types in a future.
pub trait Returns {
    /// The type.
    type Value;
}

impl Returns for () {
    type Value = Never;
}

impl<F, R> Returns for Function<F, R> {
    type Value = R;
}

/// The keys `before_pause` and `before_retry`: functions called between an error of type `E` and its retry.
#[diagnostic::on_unimplemented(
    message = "`before_pause` or `before_retry` of this chain doesn't accept a `{E}`",
    label = "not a function from `&{E}` and a `NextAttempt`"
)]
pub trait Hook<E>: Returns {
    /// Starts the hook, if there is one.
    fn begin(&mut self, error: &E, next: NextAttempt) -> Option<Self::Value>;
}

impl<E> Hook<E> for () {
    fn begin(&mut self, _: &E, _: NextAttempt) -> Option<Never> {
        None
    }
}

/// A hook that returns a future.
pub trait AsyncHook<E>: Hook<E, Value: Future<Output: HookOutcome>> {}

impl<E, B: Hook<E, Value: Future<Output: HookOutcome>>> AsyncHook<E> for B {}

#[diagnostic::do_not_recommend]
impl<E, F: FnMut(&E, NextAttempt) -> R, R> Hook<E> for Function<F, R> {
    fn begin(&mut self, error: &E, next: NextAttempt) -> Option<R> {
        Some((self.0)(error, next))
    }
}

/// The key `fallback`: replaces a call that gave up with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't replace the call",
    label = "not a function of `GaveUp<{E}>`"
)]
pub trait FallsBack<E>: Returns {
    /// Starts the fallback, if there is one.
    fn begin(self, error: E, explain: impl FnOnce(E) -> GaveUp<E>) -> Result<Self::Value, E>;
}

impl<E> FallsBack<E> for () {
    fn begin(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> Result<Never, E> {
        Err(error)
    }
}

#[diagnostic::do_not_recommend]
impl<E, F: FnOnce(GaveUp<E>) -> R, R> FallsBack<E> for Function<F, R> {
    fn begin(self, error: E, explain: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E> {
        Ok((self.0)(explain(error)))
    }
}

/// The key `give_up`: converts the error of a call that gave up with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`give_up` of this chain can't convert the error",
    label = "not a function of `GaveUp<{E}>`"
)]
pub trait GivesUp<E> {
    /// The error type of the call.
    type Error;

    /// The error of the call.
    fn convert(self, error: E, explain: impl FnOnce(E) -> GaveUp<E>) -> Self::Error;
}

impl<E> GivesUp<E> for () {
    type Error = E;

    fn convert(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> E {
        error
    }
}

#[diagnostic::do_not_recommend]
impl<E, G: FnOnce(GaveUp<E>) -> X, X> GivesUp<E> for Function<G, X> {
    type Error = X;

    fn convert(self, error: E, explain: impl FnOnce(E) -> GaveUp<E>) -> X {
        (self.0)(explain(error))
    }
}

/// The error type of a call with these keys, if its attempts fail with an `E`.
pub(super) type ErrorOf<K, E> = <<K as KeySet>::GiveUp as GivesUp<E>>::Error;

/// The outcome of a fallback.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't replace the call",
    label = "returns a `{Self}`, not a `Result<{T}, {E}>`"
)]
pub trait FallbackOutcome<T, E> {
    /// The outcome of the call.
    fn into_result(self) -> Result<T, E>;
}

impl<T, E> FallbackOutcome<T, E> for Result<T, E> {
    fn into_result(self) -> Self {
        self
    }
}

/// The return type of a function that is not set. It has no values.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl Future for Never {
    type Output = Self;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self> {
        match *self {}
    }
}

impl HookOutcome for Never {
    fn cause(self) -> Option<String> {
        match self {}
    }
}

impl<T, E> FallbackOutcome<T, E> for Never {
    fn into_result(self) -> Result<T, E> {
        match self {}
    }
}

/// The needs of a chain's keys: [errors that are kept](Keep) during pauses, and an error type that is `From<Rejected>`
/// or `From<TimedOut>`.
#[derive(Clone, Copy, Debug)]
pub struct Needs<M = Forgets, R = (), X = ()>(PhantomData<(M, R, X)>);

/// The types of a chain's [`Needs`]. A bound for functions that are generic over chains.
pub trait NeedSet {
    /// [`Forgets`] or [`Keeps`].
    type Keep: Keep;
    /// [`Rejects`], or `()`.
    type Rejects;
    /// [`Timed`], or `()`.
    type TimesOut;
}

impl<M: Keep, R, X> NeedSet for Needs<M, R, X> {
    type Keep = M;
    type Rejects = R;
    type TimesOut = X;
}

/// The needs `N`, for a chain with a key that also needs the errors of earlier attempts.
pub(super) type Keeping<N> = Needs<Keeps, <N as NeedSet>::Rejects, <N as NeedSet>::TimesOut>;

/// The needs `N`, for a chain that may also reject attempts.
pub(super) type Rejecting<N> = Needs<Keeps, Rejects, <N as NeedSet>::TimesOut>;

/// The needs `N`, for a chain that also drops slow attempts.
pub(super) type Timing<N> = Needs<<N as NeedSet>::Keep, <N as NeedSet>::Rejects, Timed>;

/// Decides whether a call keeps its attempts' outcomes during pauses. If the call doesn't, its future is `Send` even if
/// the error is not.
pub trait Keep {
    /// Storage for the outcomes.
    type Room<V: Default>: Room<V>;
}

/// Storage for a `V`, or for nothing.
pub trait Room<V>: Default {
    /// The stored value.
    fn get_mut(&mut self) -> Option<&mut V>;
}

/// Keeps nothing during a pause, because the call can't end then.
#[derive(Clone, Copy, Debug)]
pub enum Forgets {}

/// Keeps outcomes: the call may end after its pause, or a hook or a fallback needs the error.
#[derive(Clone, Copy, Debug)]
pub enum Keeps {}

impl Keep for Forgets {
    type Room<V: Default> = ();
}

impl<V> Room<V> for () {
    fn get_mut(&mut self) -> Option<&mut V> {
        None
    }
}

impl Keep for Keeps {
    type Room<V: Default> = Option<V>;
}

impl<V: Default> Room<V> for Option<V> {
    fn get_mut(&mut self) -> Option<&mut V> {
        Some(self.get_or_insert_default())
    }
}

/// Marks that the call may end with a [`Rejected`] before its first attempt: the keys `breaker` and `limiter`.
#[derive(Clone, Copy, Debug)]
pub enum Rejects {}

/// Marks that an attempt may end with a [`TimedOut`]: the key `timeout`.
#[derive(Clone, Copy, Debug)]
pub enum Timed {}

/// Functions that create the error of a call that ends without an attempt's error. Each is set if a key of the chain
/// needs it.
#[derive(Debug)]
pub struct Ends<E> {
    pub(super) aborted: Option<fn(Cancelled) -> E>,
    pub(super) rejected: Option<fn(Rejected) -> E>,
    pub(super) timed_out: Option<fn(TimedOut) -> E>,
}

/// An error type that a chain with these keys can return.
pub trait EndsBy<C, N>: Sized {
    #[doc(hidden)]
    fn ends() -> Ends<Self>;
}

impl<E, C: Aborts<E>, N: NeedSet<Rejects: MayReject<E>, TimesOut: MayTimeOut<E>>> EndsBy<C, N>
    for E
{
    fn ends() -> Ends<E> {
        Ends {
            aborted: C::ABORTED,
            rejected: N::Rejects::REJECTED,
            timed_out: N::TimesOut::TIMED_OUT,
        }
    }
}

/// The key `abort`, or none.
#[diagnostic::on_unimplemented(
    message = "`abort` needs an error type that implements `From<Cancelled>`, but `{E}` doesn't",
    label = "`{E}` has no `From<Cancelled>`",
    note = "write `impl From<retry_runtime::Cancelled> for {E}` (a bound if `{E}` is a type parameter), or use `cancel`, which only ends pauses"
)]
pub trait Aborts<E> {
    /// Creates the error of an aborted call.
    const ABORTED: Option<fn(Cancelled) -> E> = None;
}

#[diagnostic::do_not_recommend]
impl<E> Aborts<E> for Uncancelled {}

#[diagnostic::do_not_recommend]
impl<E, C> Aborts<E> for CancelledBy<C> {}

#[diagnostic::do_not_recommend]
impl<E: FromCancelled, C> Aborts<E> for AbortedBy<C> {
    const ABORTED: Option<fn(Cancelled) -> E> = Some(E::from_cancelled);
}

/// The keys `breaker` and `limiter`, or neither.
#[diagnostic::on_unimplemented(
    message = "`breaker` and `limiter` need an error type that implements `From<Rejected>`, but `{E}` doesn't",
    label = "`{E}` has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {E}` (a bound if `{E}` is a type parameter), or remove the key"
)]
pub trait MayReject<E> {
    /// Creates the error of a call whose first attempt is rejected.
    const REJECTED: Option<fn(Rejected) -> E> = None;
}

#[diagnostic::do_not_recommend]
impl<E> MayReject<E> for () {}

#[diagnostic::do_not_recommend]
impl<E: FromRejected> MayReject<E> for Rejects {
    const REJECTED: Option<fn(Rejected) -> E> = Some(E::from_rejected);
}

/// The key `timeout`, or none.
#[diagnostic::on_unimplemented(
    message = "`timeout` and `total_timeout` need an error type that implements `From<TimedOut>`, but `{E}` doesn't",
    label = "`{E}` has no `From<TimedOut>`",
    note = "write `impl From<retry_runtime::TimedOut> for {E}` (a bound if `{E}` is a type parameter), or remove the key"
)]
pub trait MayTimeOut<E> {
    /// Creates the error of an attempt that takes too long.
    const TIMED_OUT: Option<fn(TimedOut) -> E> = None;
}

#[diagnostic::do_not_recommend]
impl<E> MayTimeOut<E> for () {}

#[diagnostic::do_not_recommend]
impl<E: FromTimedOut> MayTimeOut<E> for Timed {
    const TIMED_OUT: Option<fn(TimedOut) -> E> = Some(E::from_timed_out);
}
