//! The key `policy`.

use alloc::sync::Arc;
use core::borrow::Borrow;

use crate::configure::own_policy::{FindPolicy, OwnPolicy};
use crate::configure::policies::Policies;
#[cfg(feature = "std")]
use crate::configure::shared_policy::SharedPolicy;
use crate::policy::Policy;
use crate::policy::section::Section;

/// What the key `policy` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy",
    label = "neither a `Policy` nor a `&Policy`",
    note = "give a `retry_runtime::Policy`, or what borrows as one; a `SharedPolicy` or `Policies`",
    note = "for a function of the error, write `policy = |error| choose(error)`",
    note = "for a `LazyLock<Policy>` or another pointer, write `&*pointer`; for an `Option`, `option.unwrap_or(…)`"
)]
pub trait PolicySource {
    type Found<'a>: Borrow<Policy>
    where
        Self: 'a;

    /// The policy of a call, whose name is told to those who want it.
    fn find(&self, name: impl FnOnce(&mut dyn FnMut(&str))) -> Self::Found<'_>;
}

#[diagnostic::do_not_recommend]
impl<P: Borrow<Policy>> PolicySource for P {
    type Found<'a>
        = &'a Policy
    where
        P: 'a;

    #[inline]
    fn find(&self, _: impl FnOnce(&mut dyn FnMut(&str))) -> &Policy {
        self.borrow()
    }
}

macro_rules! found_by_name {
    ($($source:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PolicySource for $source {
            type Found<'f>
                = Policy
            where
                Self: 'f;

            fn find(&self, name: impl FnOnce(&mut dyn FnMut(&str))) -> Policy {
                let mut found = Policy::new();
                name(&mut |name| found = self.find_by_name(name));
                found
            }
        }
    )*};
}

found_by_name! {
    Policies;
    &Policies;
    Arc<Policies>;
    &Arc<Policies>;
    OwnPolicy<'_, Policies>;
}
#[cfg(feature = "std")]
found_by_name! {
    SharedPolicy;
    &SharedPolicy;
    Arc<SharedPolicy>;
    &Arc<SharedPolicy>;
    SharedPolicy<Policies>;
    &SharedPolicy<Policies>;
    Arc<SharedPolicy<Policies>>;
    &Arc<SharedPolicy<Policies>>;
    OwnPolicy<'_, SharedPolicy<Policies>>;
}

#[inline]
pub fn policy<P: Borrow<Policy>>(found: &P) -> &Policy {
    found.borrow()
}

/// Builds a policy from all numbers at once. Each setter would unpack and repack all of them, and the compiler would
/// interpret that for every attribute whenever it checks a crate.
pub const fn policy_of(numbers: Section) -> Policy {
    Policy::new().with(None, numbers)
}

/// The retries that a policy allows, `u32::MAX` if they are unlimited.
pub fn max(policy: &Policy) -> u32 {
    policy.retries_allowed()
}

/// The source of the policy for that failure.
#[inline]
pub fn chosen_policy<'a, E, P>(error: &'a E, choose: impl FnOnce(&'a E) -> P) -> P {
    choose(error)
}

/// A policy beside the key `enabled`: it retries only if both say so.
pub fn enabled_if(policy: &Policy, enabled: bool) -> Policy {
    policy.enabled(enabled && policy.is_enabled())
}
