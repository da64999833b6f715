//! The key `policy`.

use std::borrow::Borrow;

use crate::call::state::Call;
use crate::policy::Policy;
use crate::policy::section::Section;

/// What the key `policy` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy",
    label = "neither a `Policy` nor a `&Policy`",
    note = "give a `retry_runtime::Policy`, or what borrows as one",
    note = "for a `LazyLock<Policy>` or another pointer, write `&*pointer`; for an `Option`, `option.unwrap_or(…)`"
)]
pub trait BorrowPolicy: Borrow<Policy> {}

#[diagnostic::do_not_recommend]
impl<P: Borrow<Policy>> BorrowPolicy for P {}

pub fn policy<P: BorrowPolicy>(policy: &P) -> &Policy {
    policy.borrow()
}

/// Builds a policy from all numbers at once. Each setter would unpack and repack all of them, and the compiler would
/// interpret that for every attribute whenever it checks a crate.
pub const fn policy_of(numbers: Section) -> Policy {
    Policy::new().with(None, numbers)
}

/// The retries that a policy allows, `u32::MAX` if they are unlimited.
pub fn max(policy: &Policy) -> u32 {
    policy.max_retries()
}

/// Whether there are retries at all, so that failures are classified.
pub fn is_enabled(policy: &Policy) -> bool {
    policy.is_enabled()
}

/// A policy beside the key `enabled`: it retries only if both say so.
pub fn enabled_if(policy: &Policy, enabled: bool) -> Policy {
    policy.enabled(enabled && policy.is_enabled())
}

/// The policy that a decorator was made with, or the one in its trait's attribute.
pub fn policy_or(given: &Option<Policy>, own: Policy) -> Policy {
    given.unwrap_or(own)
}

/// Whether no retry can follow the attempt under way.
pub fn is_last(call: &Call, policy: &Policy, validates: bool) -> bool {
    call.is_last(policy, validates)
}
