//! What a call ends with that could not begin: the keys `breaker` and `limiter`.

use crate::classify::rejected::RejectedBy;
use crate::observe::reason::Reason;

/// Why a call ends that is rejected so.
pub fn rejection(by: RejectedBy) -> Reason {
    by.reason()
}

/// The attempt begins: what the call would have ended with is not needed any more. Not `drop`, which lints look at where
/// nothing is to be dropped.
#[inline]
pub fn let_go<T>(_: T) {}
