use alloc::string::String;
use core::mem;

use retry_vocabulary::{complaint, nearest};

use crate::breaker::numbers::BreakerNumbers;
use crate::configure::policies::in_entry;
use crate::limiter::numbers::LimiterNumbers;
use crate::policy::error::{PolicyError, refused, short};
use crate::policy::overrides::Overrides;
use crate::policy::text;
use crate::policy::value::{Entries, RawValue};

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
            let (breaker, limiter) = (&mut named.breaker, &mut named.limiter);
            match key.as_str() {
                BREAKER => read(
                    &key,
                    value,
                    BreakerNumbers::from_entries,
                    "ratio=0.8",
                    breaker,
                )?,
                LIMITER => read(&key, value, LimiterNumbers::from_entries, "most=5", limiter)?,
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

/// Reads the numbers of a breaker or a limiter. To name them twice is an error.
fn read<T: Default + PartialEq>(
    key: &str,
    value: RawValue,
    of: fn(Entries) -> Result<T, PolicyError>,
    example: &str,
    numbers: &mut T,
) -> Result<(), PolicyError> {
    let RawValue::Table(keys) = value else {
        return Err(text::takes_keys(key, example));
    };
    let read = of(keys).map_err(|error| in_entry(key, &error))?;
    if mem::replace(numbers, read) != T::default() {
        return Err(PolicyError::new(complaint::given_twice(&key)));
    }
    Ok(())
}
