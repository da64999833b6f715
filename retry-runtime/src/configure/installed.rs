//! Policies laid over those of every call in the process, by name.

use alloc::sync::Arc;

use crate::configure::policies::{FindPolicy, Policies};
use crate::policy::{Policy, PolicyError};
use crate::sync::{Mutex, lock};

static INSTALLED: Mutex<Option<Arc<Policies>>> = Mutex::new(None);

impl Policies {
    /// Lays these policies over those of every call in the process, by its name, in place of what was installed before.
    /// No function has to be prepared for it: literals in attributes are overridden, too.
    ///
    /// They are looked up when an attempt has failed, so calls under way follow them at their next failure, and a call
    /// that succeeds at once pays nothing. `Policies::new().install()` takes all of it back.
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
    /// A function that counts its retries in one number goes on doing so: the `max` of an installed section counts all of
    /// its retries, not only those after that kind of failure, and delays with `jitter=decorrelated` don't grow there. One
    /// with the key `clone` makes no more attempts than its own `max` allows. What a function switches off stays off.
    ///
    /// # Errors
    ///
    /// `deadline`, `total_delay` and `timeout` are refused, because functions keep track of the time only where they name it.
    /// What was installed before stays.
    pub fn install(self) -> Result<(), PolicyError> {
        self.check_installable()?;
        *lock(&INSTALLED) = Some(Arc::new(self));
        Ok(())
    }

    /// What is installed, such as to list the entries that are [`unused`](Self::unused).
    pub fn installed() -> Arc<Self> {
        lock(&INSTALLED).clone().unwrap_or_default()
    }
}

/// The policy of the call of that name with what is installed over it. What the function itself switches off stays
/// off.
pub(crate) fn over(own: &Policy, name: &str) -> Policy {
    let Some(installed) = lock(&INSTALLED).clone() else {
        return *own;
    };
    let found = installed.find_over(name, own);
    found.enabled(found.is_enabled() && own.is_enabled())
}
