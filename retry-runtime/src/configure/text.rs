//! Policies by the names of calls, as text.

use alloc::vec::Vec;
use core::str::FromStr;

use retry_vocabulary::complaint;
use retry_vocabulary::key::Key;

use crate::configure::named::Named;
use crate::configure::policies::{Policies, check_name, in_entry};
use crate::policy::error::PolicyError;
use crate::policy::overrides::Overrides;
use crate::policy::text;
use crate::policy::value::RawValue;

/// Reads entries with the keys of each in parentheses, as an environment variable holds them. `enabled=false` beside them
/// is laid over all entries.
///
/// ```
/// use retry_runtime::Policies;
///
/// let policies: Policies = "default(max=2), anthropic.complete(throttled(max=10))".parse()?;
/// assert_eq!(policies.find("redis.get"), "max=2".parse()?);
/// let off: Policies = "enabled=false".parse()?;
/// assert_eq!(off.find("redis.get").delays().count(), 0);
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
impl FromStr for Policies {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let (mut policies, mut switch) = (Self::new(), Overrides::new());
        for (name, value) in text::entries(text, text::OF_NAMES)? {
            if name == Key::Enabled.name() {
                if switch != Overrides::new() {
                    return Err(PolicyError::new(complaint::given_twice(&name)));
                }
                switch = Overrides::from_entries(&Vec::from([(name, value)]))?;
                continue;
            }
            check_name(&name)?;
            let RawValue::Table(named) = value else {
                return Err(text::takes_keys(&name, "max=2"));
            };
            let named = Named::of(named).map_err(|error| in_entry(&name, &error))?;
            policies.add(name, named)?;
        }
        policies.overridden_by(&switch)
    }
}
