//! Policies in configuration files: a table with an entry for each name.

use std::fmt;

use ::serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use retry_vocabulary::key::Key;

use crate::configure::policies::Policies;
use crate::policy::overrides::Overrides;
use crate::policy::value::Value;

/// A table of tables, as [`Policies`] says.
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
                switch = map.next_value_seed(Switch)?;
            } else {
                policies
                    .add(name, map.next_value()?)
                    .map_err(Error::custom)?;
            }
        }
        policies.overridden_by(&switch).map_err(Error::custom)
    }
}

/// Whether there are retries at all.
struct Switch;

impl<'de> DeserializeSeed<'de> for Switch {
    type Value = Overrides;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Overrides, D::Error> {
        let name = String::from(Key::Enabled.name());
        let value = Value::deserialize(deserializer)?;
        Overrides::from_entries(&vec![(name, value)]).map_err(Error::custom)
    }
}
