use crate::policy::Policy;

/// A function's own policy with named policies over it. Made by [`Policies::over`](crate::Policies::over).
#[derive(Clone, Copy, Debug)]
pub struct OwnPolicy<'a, P> {
    pub(crate) policies: &'a P,
    pub(crate) own: Policy,
}

/// A source of policies by the names of calls.
pub(crate) trait FindPolicy {
    /// The policy of the call of that name, laid over the call's own.
    fn find_over(&self, name: &str, own: &Policy) -> Policy;

    fn find_by_name(&self, name: &str) -> Policy {
        self.find_over(name, &Policy::new())
    }
}

impl<P: FindPolicy> FindPolicy for OwnPolicy<'_, P> {
    fn find_over(&self, name: &str, _: &Policy) -> Policy {
        self.policies.find_over(name, &self.own)
    }
}
