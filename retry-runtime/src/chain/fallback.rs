use core::future::{Future, Pending};

use crate::call::attempt::Attempt;
use crate::call::gave_up::GaveUp;
use crate::chain::history::{History, KeepsErrors, NoHistory};
use crate::chain::key::{Named, Unnamed};
use crate::observe::reason::Reason;

/// What a chain's call must keep of earlier attempts for the end that its key `fallback` names, if it names one.
pub trait MayFallBack {
    /// Whether it does.
    const IS_NAMED: bool;
    type History<E>: History<E>;
}

/// How an async call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to a future of `Result<{T}, {E}>`"
)]
// The future is a parameter: one that the type of a closure determines is not found `Send` in every future around it.
pub trait FallsBack<T, E, H, Fallen>: MayFallBack {
    /// What takes the place of the call, or the error that it ends with.
    fn fall(self, history: &mut H, error: E, reason: Reason) -> Result<Fallen, E>;
}

/// How a blocking call ends that gave up.
#[diagnostic::on_unimplemented(
    message = "`fallback` of this chain can't take the place of the call",
    label = "not a function from `GaveUp<{E}>` to `Result<{T}, {E}>`"
)]
pub trait FallsBackBlocking<T, E, H>: MayFallBack {
    fn fall(self, history: &mut H, error: E, reason: Reason) -> Result<T, E>;
}

impl MayFallBack for Unnamed {
    const IS_NAMED: bool = false;
    type History<E> = NoHistory;
}

impl<T, E, H> FallsBack<T, E, H, Pending<Result<T, E>>> for Unnamed {
    #[inline]
    fn fall(self, _: &mut H, error: E, _: Reason) -> Result<Pending<Result<T, E>>, E> {
        Err(error)
    }
}

impl<T, E, H> FallsBackBlocking<T, E, H> for Unnamed {
    fn fall(self, _: &mut H, error: E, _: Reason) -> Result<T, E> {
        Err(error)
    }
}

impl<F> MayFallBack for Named<F> {
    const IS_NAMED: bool = true;
    type History<E> = Attempt<E>;
}

#[diagnostic::do_not_recommend]
impl<T, E, H, F, R> FallsBack<T, E, H, R> for Named<F>
where
    H: KeepsErrors<E>,
    F: FnOnce(GaveUp<E>) -> R,
    R: Future<Output = Result<T, E>>,
{
    fn fall(self, history: &mut H, error: E, reason: Reason) -> Result<R, E> {
        Ok((self.0)(history.gave_up(error, reason)))
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, H, F> FallsBackBlocking<T, E, H> for Named<F>
where
    H: KeepsErrors<E>,
    F: FnOnce(GaveUp<E>) -> Result<T, E>,
{
    fn fall(self, history: &mut H, error: E, reason: Reason) -> Result<T, E> {
        (self.0)(history.gave_up(error, reason))
    }
}
