//! Policies that override those of every call in the process, by the call's name.

use alloc::sync::Arc;

use crate::configure::policies::{FindPolicy, Policies};
use crate::policy::{Policy, PolicyError};
use crate::sync::{Mutex, lock};

static INSTALLED: Mutex<Option<Arc<Policies>>> = Mutex::new(None);

impl Policies {
    /// Overrides the policy of every call in the process, by the call's name, and replaces earlier installed policies.
    /// No function has to change: values in attributes are overridden, too.
    ///
    /// Installed policies are looked up after each failed attempt, so calls in flight use them from their next failure
    /// on, and calls that succeed on the first attempt have no extra cost. `Policies::new().install()` removes all
    /// installed policies.
    ///
    /// ```
    /// use retry_runtime::{Policies, retry};
    ///
    /// #[retry(max = 5, on = |_| true, name = "billing.charge")]
    /// fn charge(attempts: &mut u32) -> Result<(), String> {
    ///     *attempts += 1;
    ///     Err(String::from("503"))
    /// }
    ///
    /// let switch = std::env::var("RETRIES").unwrap_or(String::from("billing(enabled=false)"));
    /// switch.parse::<Policies>()?.install()?;
    /// let mut attempts = 0;
    /// assert!(charge(&mut attempts).is_err());
    /// assert_eq!(attempts, 1);
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    ///
    /// A function that counts all its retries together continues to do so: the `max` of an installed section then
    /// limits all retries, not only those after that kind of failure, and delays with `jitter=decorrelated` don't grow.
    /// A function with the key `clone` makes no more attempts than its own `max` allows. If a function turns off its
    /// retries, they stay off.
    ///
    /// # Errors
    ///
    /// Fails if an entry sets `deadline`, `total_timeout`, `total_delay` or `timeout`, because a function measures the
    /// time only if it sets one of these keys itself. The previously installed policies stay in force.
    pub fn install(self) -> Result<(), PolicyError> {
        self.check_installable()?;
        *lock(&INSTALLED) = Some(Arc::new(self));
        Ok(())
    }

    /// Returns the installed policies, for example to list the [`unused`](Self::unused) entries.
    pub fn installed() -> Arc<Self> {
        lock(&INSTALLED).clone().unwrap_or_default()
    }
}

/// The call's own policy with the installed overrides for its name. If the function turns off its retries, they stay
/// off.
pub(crate) fn resolve<'a>(own: &Policy, name: impl FnOnce() -> &'a str) -> Policy {
    let Some(installed) = lock(&INSTALLED).clone() else {
        return *own;
    };
    let found = installed.resolve(name(), own);
    found.enabled(found.is_enabled() && own.is_enabled())
}
