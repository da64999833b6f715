//! The place of calls in the code: their policy, their name, their counts, and the calls around them.

pub(crate) mod attempted;
#[cfg(feature = "std")]
pub(crate) mod counts;
#[cfg(feature = "nested")]
pub(crate) mod nested;

use core::fmt;

use crate::policy::Policy;

pub use attempted::{attempt_within, run_within};

#[cfg(feature = "std")]
use crate::configure::installed;

/// The settings shared by all calls of one function: the policy, and the name in logs and metrics.
///
/// If the policy and the name are known at compile time, a site can be a constant:
///
/// ```
/// use retry_runtime::own_loop::Site;
/// use retry_runtime::Policy;
///
/// const POLICY: Policy = Policy::new().max(5);
/// const SITE: Site<'_> = Site::new(&POLICY, "model.complete");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) name: Name<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Name<'a> {
    Text(&'a str),
    /// A function that returns a block's name, because that name can't be a constant.
    Computed(fn() -> &'static str),
}

impl<'a> Name<'a> {
    #[inline]
    pub(crate) fn get(self) -> &'a str {
        match self {
            Self::Text(name) => name,
            Self::Computed(name) => name(),
        }
    }
}

impl<'a> Site<'a> {
    /// Creates a site with this policy and this name.
    pub const fn new(policy: &'a Policy, name: &'a str) -> Self {
        Self {
            policy,
            name: Name::Text(name),
        }
    }

    /// Creates a site whose name is returned by a function.
    #[doc(hidden)]
    pub const fn named_by(policy: &'a Policy, name: fn() -> &'static str) -> Self {
        Self {
            policy,
            name: Name::Computed(name),
        }
    }

    /// The policy of the calls.
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The policy, with the [installed](crate::Policies::install) overrides.
    pub(crate) fn policy_in_force(&self) -> Policy {
        #[cfg(feature = "std")]
        let policy = installed::resolve(self.policy, || self.name());
        #[cfg(not(feature = "std"))]
        let policy = *self.policy;
        policy
    }

    /// The name of the calls.
    #[inline]
    pub fn name(&self) -> &'a str {
        self.name.get()
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.get(), f)
    }
}
