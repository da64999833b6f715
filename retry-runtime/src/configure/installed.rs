//! Policies laid over those of every call in the process, by name.

use std::sync::{PoisonError, RwLock};

use crate::configure::own_policy::FindPolicy;
use crate::configure::policies::Policies;
use crate::policy::Policy;
use crate::policy::error::PolicyError;

static INSTALLED: RwLock<Policies> = RwLock::new(Policies::new());

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
    /// its retries, not only those after that kind of failure. One with the key `clone` makes no more attempts than its own
    /// `max` allows.
    ///
    /// # Errors
    ///
    /// `deadline`, `total_delay` and `timeout` are refused, because functions keep track of the time only where they name it.
    /// What was installed before stays.
    pub fn install(self) -> Result<(), PolicyError> {
        self.check_installable()?;
        *INSTALLED.write().unwrap_or_else(PoisonError::into_inner) = self;
        Ok(())
    }

    /// Passes the installed policies to `read`, such as to list those that are [`unused`](Self::unused). Don't call
    /// [`install`](Self::install) in `read`: it would wait for itself.
    pub fn with_installed<T>(read: impl FnOnce(&Self) -> T) -> T {
        read(&INSTALLED.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The policy of the call of that name with what is installed over it.
pub(crate) fn over(own: &Policy, name: &str) -> Policy {
    Policies::with_installed(|installed| installed.find_over(name, *own))
}
