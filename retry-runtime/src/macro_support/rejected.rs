//! What a call ends with that could not begin: the keys `breaker` and `limiter`.

use crate::call::rejected::{Rejected, RejectedBy};
use crate::observe::reason::Reason;

/// An error type that [`Rejected`] converts to. Implemented through `From<Rejected>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the keys `breaker` and `limiter` need an error type that a rejection converts to, and `{Self}` is not one",
    label = "this error type has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {Self}`, or remove the key"
)]
pub trait FromRejected {
    /// The conversion.
    fn from_rejected(rejected: Rejected) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Rejected>> FromRejected for E {
    fn from_rejected(rejected: Rejected) -> Self {
        rejected.into()
    }
}

/// Why a call ends that is rejected so.
pub fn rejection(by: RejectedBy) -> Reason {
    by.reason()
}

/// The attempt begins: what the call would have ended with is not needed any more. Not `drop`, which lints look at where
/// nothing is to be dropped.
#[inline]
pub fn let_go<T>(_: T) {}
