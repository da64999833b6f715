use core::future::{Future, Pending};

use crate::call::gave_up::GaveUp;
use crate::key::{Key, Unnamed};

/// How an async call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to a future of `Result<{T}, {E}>`"
)]
// The future is a parameter: one that the type of a closure determines is not found `Send` in every future around it.
pub trait FallsBack<T, E, Fallen>: Key {
    /// What takes the place of the call, or the error that it ends with.
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<Fallen, E>;
}

/// How a blocking call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to `Result<{T}, {E}>`"
)]
pub trait FallsBackBlocking<T, E>: Key {
    /// What takes the place of the call, or the error that it ends with.
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<T, E>;
}

impl<T, E> FallsBack<T, E, Pending<Result<T, E>>> for Unnamed {
    #[inline]
    fn fall(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> Result<Pending<Result<T, E>>, E> {
        Err(error)
    }
}

impl<T, E> FallsBackBlocking<T, E> for Unnamed {
    fn fall(self, error: E, _: impl FnOnce(E) -> GaveUp<E>) -> Result<T, E> {
        Err(error)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, F, R> FallsBack<T, E, R> for Option<F>
where
    F: FnOnce(GaveUp<E>) -> R,
    R: Future<Output = Result<T, E>>,
{
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<R, E> {
        match self {
            Some(fallback) => Ok(fallback(gave_up(error))),
            None => Err(error),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, F> FallsBackBlocking<T, E> for Option<F>
where
    F: FnOnce(GaveUp<E>) -> Result<T, E>,
{
    fn fall(self, error: E, gave_up: impl FnOnce(E) -> GaveUp<E>) -> Result<T, E> {
        match self {
            Some(fallback) => fallback(gave_up(error)),
            None => Err(error),
        }
    }
}
