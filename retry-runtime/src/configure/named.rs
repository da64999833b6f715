use alloc::string::String;

use retry_vocabulary::nearest;

use crate::configure::numbers::{BreakerNumbers, LimiterNumbers};
use crate::policy::error::{PolicyError, refused, short};
use crate::policy::overrides::Overrides;
use crate::policy::value::Entries;

pub(crate) const BREAKER: &str = "breaker";
pub(crate) const LIMITER: &str = "limiter";

/// The contents of an entry of named policies: keys of a policy, and settings of protections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    pub(crate) policy: Overrides,
    pub(crate) breaker: BreakerNumbers,
    pub(crate) limiter: LimiterNumbers,
}

impl Named {
    pub(crate) fn from_entries(entries: Entries) -> Result<Self, PolicyError> {
        let (mut named, mut policy) = (Self::default(), Entries::new());
        for (key, value) in entries {
            match key.as_str() {
                BREAKER => named.breaker.read(&key, value)?,
                LIMITER => named.limiter.read(&key, value)?,
                _ => policy.push((of_policy(key)?, value)),
            }
        }
        named.policy = Overrides::from_entries(policy)?;
        Ok(named)
    }

    /// Overrides these keys and settings with another entry's.
    pub(crate) fn overridden_by(self, later: &Self) -> Self {
        Self {
            policy: self.policy.overridden_by(&later.policy),
            breaker: self.breaker.overridden_by(later.breaker),
            limiter: self.limiter.overridden_by(later.limiter),
        }
    }

    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        self.policy.check()?;
        self.limiter.check()
    }
}

/// Returns the key for the policy to parse, or an error if a protection's key was probably meant.
fn of_policy(key: String) -> Result<String, PolicyError> {
    match nearest(&key, &[BREAKER, LIMITER]) {
        Some(ours) => {
            let key = short(&key);
            Err(refused!("unknown key `{key}`: did you mean `{ours}`?"))
        }
        None => Ok(key),
    }
}
