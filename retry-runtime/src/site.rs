use crate::Policy;

/// What all calls of a function share.
///
/// One reference to it is less code where the function stands than its parts are.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) name: &'a str,
}

impl<'a> Site<'a> {
    /// Calls of that name, under that policy.
    pub const fn new(policy: &'a Policy, name: &'a str) -> Self {
        Self { policy, name }
    }
}
