//! Policies in configuration files: tables with the keys that `Overrides` documents.

use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use ::serde::ser::{Serialize, Serializer};
use retry_vocabulary::key::{Among, Key};

use crate::policy::Policy;
use crate::policy::backoff::Backoff;
use crate::policy::error::PolicyError;
use crate::policy::jitter::Jitter;
use crate::policy::overrides::Overrides;
use crate::policy::value::{Entries, KeyValue, RawValue, Setting};

/// Reads the keys that a table names, on top of [`Policy::new`]. [`Overrides`] lists them.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(|named| Self::new().overridden_by(&named)))
    }
}

impl<'de> Deserialize<'de> for Overrides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(Ok))
    }
}

/// Writes a table of the keys that `Display` prints: durations are text, `max` is a number or `"unlimited"`, `jitter`
/// a word or a number, sections are tables.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Overrides::all_of(self).serialize(serializer)
    }
}

/// Writes a table of what the layer names, in the form of a [`Policy`]'s.
impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.settings()
                .iter()
                .map(|(key, value)| (key.name(), value)),
        )
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Section(keys) => {
                serializer.collect_map(keys.iter().map(|(key, value)| (key.name(), value)))
            }
        }
    }
}

impl Serialize for KeyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Count(count) if count < u32::MAX => serializer.serialize_u32(count),
            Self::Factor(number) | Self::Jitter(Jitter::Ratio(number)) => {
                serializer.serialize_f64(number)
            }
            Self::Backoff(Backoff::List(delays)) => {
                serializer.collect_seq(delays.iter().map(|delay| Self::Duration(*delay)))
            }
            Self::Bool(is_on) => serializer.serialize_bool(is_on),
            text => serializer.collect_str(&text),
        }
    }
}

/// Reads a table and makes of it what the function says, so that the format adds its line to the function's error, too.
struct TableVisitor<T>(fn(Overrides) -> Result<T, PolicyError>);

impl<'de, T> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of a policy's keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut entries = Entries::new();
        while let Some(name) = map.next_key()? {
            entries.push(map.next_value_seed(EntrySeed::of_policy(name))?);
        }
        let named = Overrides::from_entries(&entries);
        named.and_then(self.0).map_err(Error::custom)
    }
}

/// Reads the keys of a table that holds no other, such as those of a section.
pub(crate) fn read_entries<'de, A: MapAccess<'de>>(
    mut map: A,
    check: impl Fn(&str, &RawValue) -> Result<(), PolicyError>,
) -> Result<Entries, A::Error> {
    let mut entries = Entries::new();
    while let Some(name) = map.next_key()? {
        let (section, check) = (None, &check);
        entries.push(map.next_value_seed(EntrySeed {
            name,
            section,
            check,
        })?);
    }
    Ok(entries)
}

/// Reads the value of a key and refuses a wrong one at once, so that the format adds the place of the value.
pub(crate) struct EntrySeed<C> {
    name: String,
    /// The section that the key opens.
    section: Option<Key>,
    check: C,
}

impl EntrySeed<fn(&str, &RawValue) -> Result<(), PolicyError>> {
    pub(crate) fn of_policy(name: String) -> Self {
        Self {
            section: Among::Policy.find(&name).filter(|key| key.is_section()),
            check: |name, raw| Overrides::check_entry(None, name, raw),
            name,
        }
    }
}

impl<'de, C: Fn(&str, &RawValue) -> Result<(), PolicyError>> DeserializeSeed<'de> for EntrySeed<C> {
    type Value = (String, RawValue);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let section = self.section;
        let raw = deserializer.deserialize_any(RawVisitor { section })?;
        (self.check)(&self.name, &raw).map_err(Error::custom)?;
        Ok((self.name, raw))
    }
}

/// Reads anything, so that what no key takes is refused with the name of its key.
struct RawVisitor {
    /// The section whose keys a table holds; without one, no key takes the table.
    section: Option<Key>,
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor { section: None })
    }
}

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, `true`, `false` or a table")
    }

    fn visit_str<E>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue::One(String::from(text)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<RawValue, E> {
        Ok(RawValue::One(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<RawValue, E> {
        Ok(RawValue::One(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<RawValue, E> {
        Ok(RawValue::One(KeyValue::Factor(number).to_string()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::One(value.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<RawValue, E> {
        self.visit_str("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element::<RawValue>()? {
            values.push(String::from(value.single()));
        }
        Ok(RawValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawValue, A::Error> {
        if let Some(section) = self.section {
            let check = |name: &str, raw: &_| Overrides::check_entry(Some(section), name, raw);
            return read_entries(map, check).map(RawValue::Table);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RawValue::Table(Entries::new()))
    }
}
