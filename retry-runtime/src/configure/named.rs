use alloc::string::String;

use retry_vocabulary::nearest;

use crate::configure::numbers::{BreakerNumbers, LimiterNumbers};
use crate::policy::error::{PolicyError, refused, short};
use crate::policy::overrides::Overrides;
use crate::policy::value::Entries;

pub(crate) const BREAKER: &str = "breaker";
pub(crate) const LIMITER: &str = "limiter";

/// What an entry of named policies names: keys of a policy, and numbers of what its calls share.
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

    /// Lays another entry's keys and numbers over these.
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

/// A key, for the policy to read, unless it is meant to be one of ours.
fn of_policy(key: String) -> Result<String, PolicyError> {
    match nearest(&key, &[BREAKER, LIMITER]) {
        Some(ours) => {
            let key = short(&key);
            Err(refused!("unknown key `{key}`: did you mean `{ours}`?"))
        }
        None => Ok(key),
    }
}
