//! The key `breaker`.

use crate::breaker::circuit_breaker::{CircuitBreaker, Transition};
use crate::breaker::permit::Permit;
use crate::call::state::Call;
use crate::observe::report::Observe;

/// Asks for a pass.
#[inline]
pub fn permit<B: CircuitBreaker>(breaker: B) -> Option<Permit<B>> {
    Permit::new(breaker)
}

/// Whether the breaker would give no pass now.
pub fn is_open<B: CircuitBreaker>(breaker: &B) -> bool {
    breaker.is_open()
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
    call.turned(name, transition, None, observe);
}
