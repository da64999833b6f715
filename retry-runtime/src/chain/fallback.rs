use core::future::{Future, Pending};

use crate::call::gave_up::GaveUp;
use crate::key::{Key, Unnamed};

/// How a call ends that gave up: `R` is a blocking call's outcome, or a future of an async call's.
pub trait Falls<E, R> {
    /// What takes the place of the call, or the error that it ends with.
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E>;
}

impl<E, R> Falls<E, R> for Unnamed {
    #[inline]
    fn fall(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E> {
        Err(error)
    }
}

impl<E, R, F: FnOnce(GaveUp<E>) -> R> Falls<E, R> for Option<F> {
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E> {
        match self {
            Some(fallback) => Ok(fallback(gave_up(error))),
            None => Err(error),
        }
    }
}

/// How an async call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to a future of `Result<{T}, {E}>`"
)]
// The future is a parameter: one that the type of a closure determines is not found `Send` in every future around it.
pub trait FallsBack<T, E, Fallen>: Key + Falls<E, Fallen> {}

/// How a blocking call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to `Result<{T}, {E}>`"
)]
pub trait FallsBackBlocking<T, E>: Key + Falls<E, Result<T, E>> {}

impl<T, E> FallsBack<T, E, Pending<Result<T, E>>> for Unnamed {}
impl<T, E> FallsBackBlocking<T, E> for Unnamed {}

#[diagnostic::do_not_recommend]
impl<T, E, F, R> FallsBack<T, E, R> for Option<F>
where
    F: FnOnce(GaveUp<E>) -> R,
    R: Future<Output = Result<T, E>>,
{
}

#[diagnostic::do_not_recommend]
impl<T, E, F: FnOnce(GaveUp<E>) -> Result<T, E>> FallsBackBlocking<T, E> for Option<F> {}
