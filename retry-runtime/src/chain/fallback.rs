//! The key `fallback` of a chain.

use core::marker::PhantomData;

use crate::call::gave_up::GaveUp;
use crate::chain::key::{Key, Never};

/// A function that takes the place of a call that gave up, and returns an `R`.
///
/// `R` is a parameter: a future that the type of a closure determines is not found `Send` in every future around it.
#[derive(Clone, Copy, Debug)]
pub struct Fallback<F, R> {
    fallback: F,
    returned: PhantomData<fn() -> R>,
}

impl<F, R> Fallback<F, R> {
    pub(super) const fn new(fallback: F) -> Self {
        Self {
            fallback,
            returned: PhantomData,
        }
    }
}

/// A key for a fallback.
pub trait FallbackKey: Key {
    /// What it returns: an outcome, or a future of one.
    type Returned;
}

impl FallbackKey for () {
    type Returned = Never;
}

impl<F, R> FallbackKey for Option<Fallback<F, R>> {
    type Returned = R;
}

/// What takes the place of a call that gave up with an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function of `GaveUp<{E}>`"
)]
pub trait FallsBack<E>: FallbackKey {
    /// What takes the place of the call, or the error that it ends with.
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<Self::Returned, E>;
}

impl<E> FallsBack<E> for () {
    #[inline]
    fn fall(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> Result<Never, E> {
        Err(error)
    }
}

#[diagnostic::do_not_recommend]
impl<E, F: FnOnce(GaveUp<E>) -> R, R> FallsBack<E> for Option<Fallback<F, R>> {
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E> {
        match self {
            Some(fallback) => Ok((fallback.fallback)(gave_up(error))),
            None => Err(error),
        }
    }
}

/// The outcome of a fallback.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "comes to a `{Self}`, not to a `Result<{T}, {E}>`"
)]
pub trait FallbackOutcome<T, E> {
    /// The outcome of the call.
    fn into_result(self) -> Result<T, E>;
}

impl<T, E> FallbackOutcome<T, E> for Never {
    fn into_result(self) -> Result<T, E> {
        match self {}
    }
}

impl<T, E> FallbackOutcome<T, E> for Result<T, E> {
    fn into_result(self) -> Self {
        self
    }
}
