//! Numbers of protections as texts and tables have them: in the grammar of policies, and with its complaints.

use alloc::string::String;
#[cfg(feature = "serde")]
use core::fmt;
use core::str::FromStr;

#[cfg(feature = "serde")]
use ::serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use retry_vocabulary::complaint;

use crate::policy::error::{PolicyError, refused, short};
#[cfg(feature = "serde")]
use crate::policy::serde::read_entries;
use crate::policy::text;
use crate::policy::value::Entries;
#[cfg(feature = "serde")]
use crate::policy::value::RawValue;

pub(crate) fn entries(text: &str) -> Result<Entries, PolicyError> {
    text::entries(text, 0)
}

/// The texts of the values that are named, in the order of these keys.
pub(crate) fn values<const N: usize>(
    keys: [&str; N],
    entries: Entries,
) -> Result<[Option<String>; N], PolicyError> {
    let mut values = [const { None }; N];
    for (name, raw) in entries {
        let Some(at) = keys.iter().position(|key| *key == name) else {
            let remedy = complaint::suggestion(&name, &keys);
            return Err(refused!("unknown key `{}`: {remedy}", short(&name)));
        };
        if values[at].replace(String::from(raw.single())).is_some() {
            return Err(PolicyError::new(complaint::given_twice(&name)));
        }
    }
    Ok(values)
}

pub(crate) fn number<N: FromStr>(
    key: &str,
    text: Option<String>,
    is_valid: impl FnOnce(&N) -> bool,
    range: &str,
) -> Result<Option<N>, PolicyError> {
    let Some(text) = text else {
        return Ok(None);
    };
    match text.parse().ok().filter(is_valid) {
        Some(number) => Ok(Some(number)),
        None => Err(PolicyError::new(complaint::out_of_range(
            &key,
            &short(&text),
            range,
        ))),
    }
}

#[cfg(feature = "serde")]
pub(crate) fn read_table<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    read: fn(Entries) -> Result<T, PolicyError>,
) -> Result<T, D::Error> {
    let entries = NumbersSeed(read).deserialize(deserializer)?;
    read(entries).map_err(Error::custom)
}

/// Reads the table of what the function reads.
#[cfg(feature = "serde")]
pub(crate) struct NumbersSeed<T>(pub(crate) fn(Entries) -> Result<T, PolicyError>);

#[cfg(feature = "serde")]
impl<'de, T> DeserializeSeed<'de> for NumbersSeed<T> {
    type Value = Entries;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entries, D::Error> {
        deserializer.deserialize_map(self)
    }
}

#[cfg(feature = "serde")]
impl<'de, T> Visitor<'de> for NumbersSeed<T> {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entries, A::Error> {
        read_entries(map, |name, raw| {
            let alone = RawValue::One(String::from(raw.single()));
            (self.0)(Entries::from([(String::from(name), alone)])).map(drop)
        })
    }
}
