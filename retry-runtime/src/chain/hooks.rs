//! The keys that only single calls have: `until`, `timeout`, `fallback`, `before_pause` and `before_retry`.

use alloc::string::String;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::call::gave_up::GaveUp;
use crate::call::next_attempt::NextAttempt;
use crate::call::stop::HookOutcome;

/// The keys of a chain that batches and plans don't have. Each is `()` if it is not set.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<U = (), B = (), R = (), F = (), X = ()> {
    pub(crate) until: U,
    pub(crate) before_pause: B,
    pub(crate) before_retry: R,
    pub(crate) fallback: F,
    pub(crate) timeout: X,
}

impl Hooks {
    pub(super) const fn new() -> Self {
        Self {
            until: (),
            before_pause: (),
            before_retry: (),
            fallback: (),
            timeout: (),
        }
    }
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
    #[inline]
    fn accepts(&mut self, _: &T) -> bool {
        true
    }
}

#[diagnostic::do_not_recommend]
impl<T, F: FnMut(&T) -> bool> Until<T> for F {
    #[inline]
    fn accepts(&mut self, value: &T) -> bool {
        self(value)
    }
}

/// A function that returns an `R`: an outcome, or a future of one.
///
/// `R` is a parameter because the compiler would not always prove that a future is `Send` if a closure's type
/// determined its type.
#[derive(Clone, Copy, Debug)]
pub struct Function<F, R> {
    function: F,
    returned: PhantomData<fn() -> R>,
}

impl<F, R> Function<F, R> {
    pub(super) const fn new(function: F) -> Self {
        Self {
            function,
            returned: PhantomData,
        }
    }
}

/// The type that a key's function returns.
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

#[diagnostic::do_not_recommend]
impl<E, F: FnMut(&E, NextAttempt) -> R, R> Hook<E> for Function<F, R> {
    fn begin(&mut self, error: &E, next: NextAttempt) -> Option<R> {
        Some((self.function)(error, next))
    }
}

/// The key `fallback`: replaces a call that gave up with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't replace the call",
    label = "not a function of `GaveUp<{E}>`"
)]
pub trait FallsBack<E>: Returns {
    /// Starts the fallback, if there is one.
    fn begin(self, gave_up: GaveUp<E>) -> Result<Self::Value, E>;
}

impl<E> FallsBack<E> for () {
    fn begin(self, gave_up: GaveUp<E>) -> Result<Never, E> {
        Err(gave_up.into_error())
    }
}

#[diagnostic::do_not_recommend]
impl<E, F: FnOnce(GaveUp<E>) -> R, R> FallsBack<E> for Function<F, R> {
    fn begin(self, gave_up: GaveUp<E>) -> Result<R, E> {
        Ok((self.function)(gave_up))
    }
}

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

/// Marks that the key `timeout` is set.
#[derive(Clone, Copy, Debug)]
pub struct Timed;

/// The output of a function that was not set: it has no value.
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
