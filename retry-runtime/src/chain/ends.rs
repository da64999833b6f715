//! Errors of calls that end without an attempt's error.

use retry_classify::{Cancelled, Rejected, TimedOut};

use crate::chain::hooks::Timed;
use crate::chain::kept::{Forgets, Keeps, Rejects};
use crate::classify::{FromCancelled, FromRejected, FromTimedOut};
use crate::time::{AbortedBy, CancelledBy, Uncancelled};

/// Functions that create these errors, each if the chain has a key that needs it.
#[derive(Debug)]
pub struct Ends<E> {
    pub(super) aborted: Option<fn(Cancelled) -> E>,
    pub(super) rejected: Option<fn(Rejected) -> E>,
    pub(super) timed_out: Option<fn(TimedOut) -> E>,
}

/// An error type for a chain with these keys.
pub trait EndsBy<C, M, X>: Sized {
    #[doc(hidden)]
    fn ends() -> Ends<Self>;
}

impl<E, C: Aborts<E>, M: MayReject<E>, X: TimesOut<E>> EndsBy<C, M, X> for E {
    #[inline]
    fn ends() -> Ends<E> {
        Ends {
            aborted: C::ABORTED,
            rejected: M::REJECTED,
            timed_out: X::TIMED_OUT,
        }
    }
}

/// The key `abort`, or none.
#[diagnostic::on_unimplemented(
    message = "`abort` needs an error type that implements `From<Cancelled>`, but `{E}` doesn't",
    label = "`{E}` has no `From<Cancelled>`",
    note = "write `impl From<retry_runtime::Cancelled> for {E}`, or use `cancel`, which only ends pauses"
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
    note = "write `impl From<retry_runtime::Rejected> for {E}`, or remove the key"
)]
pub trait MayReject<E> {
    /// Creates the error of a call whose first attempt is rejected.
    const REJECTED: Option<fn(Rejected) -> E> = None;
}

#[diagnostic::do_not_recommend]
impl<E> MayReject<E> for Forgets {}

#[diagnostic::do_not_recommend]
impl<E> MayReject<E> for Keeps {}

#[diagnostic::do_not_recommend]
impl<E: FromRejected> MayReject<E> for Rejects {
    const REJECTED: Option<fn(Rejected) -> E> = Some(E::from_rejected);
}

/// The key `timeout`, or none.
#[diagnostic::on_unimplemented(
    message = "`timeout` needs an error type that implements `From<TimedOut>`, but `{E}` doesn't",
    label = "`{E}` has no `From<TimedOut>`",
    note = "write `impl From<retry_runtime::TimedOut> for {E}`, or remove the key"
)]
pub trait TimesOut<E> {
    /// Creates the error of an attempt that takes too long.
    const TIMED_OUT: Option<fn(TimedOut) -> E> = None;
}

#[diagnostic::do_not_recommend]
impl<E> TimesOut<E> for () {}

#[diagnostic::do_not_recommend]
impl<E: FromTimedOut> TimesOut<E> for Timed {
    const TIMED_OUT: Option<fn(TimedOut) -> E> = Some(E::from_timed_out);
}
