use crate::policy::Policy;

/// What all calls of one function share: the policy, and the name in logs and metrics.
///
/// It is separate from [`Call`](crate::Call), so that it can be a `const` if both are known at compile time:
///
/// ```
/// use retry_runtime::{Policy, Site};
///
/// const POLICY: Policy = Policy::new().max(5);
/// const SITE: Site<'_> = Site::new(&POLICY, "model.complete");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) name: &'a str,
}

impl<'a> Site<'a> {
    /// A site with that policy and that name.
    #[inline]
    pub const fn new(policy: &'a Policy, name: &'a str) -> Self {
        Self { policy, name }
    }

    /// The policy of the calls.
    #[inline]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Their name.
    #[inline]
    pub const fn name(&self) -> &'a str {
        self.name
    }
}
