use std::sync::{PoisonError, RwLock};

use crate::configure::policies::{FindPolicy, OwnPolicy, Policies};
use crate::policy::Policy;

/// A policy, or [`Policies`], that can change while the program runs. The key `policy` accepts it.
///
/// A call reads the policy at its start, for the deadline, and after each failure. So calls in flight use the last
/// stored policy from their next failure on, but a pause that has started does not change. A reader waits only while a
/// policy is being stored, and never reads a partly written one.
///
/// ```
/// use retry_runtime::{Policy, SharedPolicy, retry};
///
/// static POLICY: SharedPolicy = SharedPolicy::new(Policy::new().max(5));
///
/// #[retry(policy = POLICY, on = |_| true)]
/// async fn fetch() -> Result<String, String> {
///     Ok(String::from("hello"))
/// }
///
/// // A file has changed, or an operator has flipped the switch.
/// POLICY.store("max=2, cap=5s".parse()?);
/// POLICY.store(POLICY.load().enabled(false));
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
#[derive(Debug, Default)]
pub struct SharedPolicy<P = Policy> {
    stored: RwLock<P>,
}

impl<P> SharedPolicy<P> {
    /// Creates a shared policy that contains `policy` until [`store`](Self::store) replaces it.
    pub const fn new(policy: P) -> Self {
        Self {
            stored: RwLock::new(policy),
        }
    }

    /// Replaces the policy for all readers.
    pub fn store(&self, policy: P) {
        *self.stored.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// Returns the last stored policy.
    pub fn load(&self) -> P
    where
        P: Copy,
    {
        self.read(|stored| *stored)
    }

    /// Passes the last stored policy to `read`. Don't call [`store`](Self::store) in `read`: it would deadlock.
    pub fn read<T>(&self, read: impl FnOnce(&P) -> T) -> T {
        read(&self.stored.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SharedPolicy<Policies> {
    /// Applies the policy for a call's name to a function's own policy, as [`Policies::over`] does.
    pub const fn over(&self, own: Policy) -> OwnPolicy<'_, Self> {
        let policies = self;
        OwnPolicy { policies, own }
    }
}

impl FindPolicy for SharedPolicy<Policies> {
    fn resolve(&self, name: &str, own: &Policy) -> Policy {
        self.read(|policies| policies.resolve(name, own))
    }
}

impl FindPolicy for SharedPolicy {
    fn resolve(&self, _: &str, _: &Policy) -> Policy {
        self.load()
    }
}
