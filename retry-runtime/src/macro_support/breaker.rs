//! The key `breaker`.

use crate::breaker::circuit_breaker::{CircuitBreaker, Transition};
use crate::breaker::permit::Permit;
use crate::breaker::rejected::Rejected;
use crate::call::state::Call;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;

/// An error type that [`Rejected`] converts to. Implemented through `From<Rejected>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the key `breaker` needs an error type that a rejection converts to, and `{Self}` is not one",
    label = "this error type has no `From<Rejected>`",
    note = "write `impl From<retry_runtime::Rejected> for {Self}`, or remove `breaker`"
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

/// Asks for a pass.
#[inline]
pub fn permit<B: CircuitBreaker>(breaker: B) -> Option<Permit<B>> {
    Permit::new(breaker)
}

/// Why no attempt may follow a pause, where it was asked for one.
pub fn refused<B>(permit: &Option<Permit<B>>) -> Option<Reason> {
    permit.is_none().then_some(Reason::Rejected)
}

/// What letting an attempt through changed.
#[inline]
pub fn half_opened<B>(permit: &Permit<B>) -> Option<Transition> {
    permit.transition()
}

/// Tells the breaker that the server answered.
#[inline]
pub fn answered<B>(permit: &mut Permit<B>) -> Option<Transition> {
    permit.succeeded()
}

/// Tells of what changed.
#[cold]
#[inline(never)]
pub fn turned(call: &Call, name: &str, transition: Transition, observe: Option<Observe<'_>>) {
    call.turned(name, transition, &"", observe);
}
