//! Policies in configuration files: a table with an entry for each name.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use retry_vocabulary::key::{Among, Key};

use crate::breaker::numbers::BreakerNumbers;
use crate::configure::named::{BREAKER, LIMITER, Named, of_policy};
use crate::configure::policies::{Policies, check_name, in_entry};
use crate::limiter::numbers::LimiterNumbers;
use crate::policy::overrides::Overrides;
use crate::policy::protection_numbers::NumbersSeed;
use crate::policy::serde::EntrySeed;
use crate::policy::value::{Entries, RawValue};

/// Reads a table of tables, as [`Policies`] describes it.
impl<'de> Deserialize<'de> for Policies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PoliciesVisitor)
    }
}

struct PoliciesVisitor;

impl<'de> Visitor<'de> for PoliciesVisitor {
    type Value = Policies;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of policies by the names of calls")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Policies, A::Error> {
        let (mut policies, mut switch) = (Policies::new(), Overrides::new());
        while let Some(name) = map.next_key::<String>()? {
            if name == Key::Enabled.name() {
                let entry = map.next_value_seed(EntrySeed::of_policy(name))?;
                switch = Overrides::from_entries(&Vec::from([entry])).map_err(Error::custom)?;
            } else {
                let named = map.next_value_seed(NamedTable { name: &name })?;
                policies.add(name, named).map_err(Error::custom)?;
            }
        }
        policies.overridden_by(&switch).map_err(Error::custom)
    }
}

/// Reads the table of a name and checks it at once, so that the format adds the place of the table to an error.
struct NamedTable<'a> {
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for NamedTable<'_> {
    type Value = Named;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Named, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NamedTable<'_> {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of a policy's keys")?;
        match Among::Policy.find(self.name) {
            Some(key) => write!(f, ", such as `default`, for all calls: write `{key}` there"),
            None => Ok(()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        check_name(self.name).map_err(Error::custom)?;
        let mut entries = Entries::new();
        while let Some(name) = map.next_key::<String>()? {
            let numbers = match name.as_str() {
                BREAKER => map.next_value_seed(NumbersSeed(BreakerNumbers::of))?,
                LIMITER => map.next_value_seed(NumbersSeed(LimiterNumbers::of))?,
                _ => {
                    let name = of_policy(name);
                    let name = name.map_err(|error| Error::custom(in_entry(self.name, &error)))?;
                    entries.push(map.next_value_seed(EntrySeed::of_policy(name))?);
                    continue;
                }
            };
            entries.push((name, RawValue::Table(numbers)));
        }
        let named = Named::of(entries).and_then(|named| named.check().map(|()| named));
        named.map_err(|error| Error::custom(in_entry(self.name, &error)))
    }
}
