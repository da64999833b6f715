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
use crate::policy::error::PolicyError;
use crate::policy::overrides::Overrides;
use crate::policy::value::{Entries, Value};

/// The keys that the table names, on top of [`Policy::new`]. [`Overrides`] lists them.
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

/// A table of the keys that `Display` prints: durations are text, `max` is a number or `"unlimited"`, `jitter`
/// a word or a number, sections are tables.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Overrides::all_of(self).serialize(serializer)
    }
}

/// A table of what the layer names, in the form of a [`Policy`]'s.
impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Table(self.entries()).serialize(serializer)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::List(values) => serializer.collect_seq(values),
            Self::Table(entries) => {
                serializer.collect_map(entries.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

/// Holds what becomes of the keys, so that the format adds its line to that error, too.
struct TableVisitor<T>(fn(Overrides) -> Result<T, PolicyError>);

impl<'de, T> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of a policy's keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        Overrides::from_entries(&read_entries(map, None)?)
            .and_then(self.0)
            .map_err(Error::custom)
    }
}

/// The keys of that section, or of the policy.
fn read_entries<'de, A: MapAccess<'de>>(
    mut map: A,
    section: Option<Key>,
) -> Result<Entries, A::Error> {
    let mut entries = Entries::new();
    while let Some(name) = map.next_key()? {
        entries.push(map.next_value_seed(Named { section, name })?);
    }
    Ok(entries)
}

/// The value of a key, refused as soon as it is read, so that the format adds the place of that value.
struct Named {
    section: Option<Key>,
    name: String,
}

impl<'de> DeserializeSeed<'de> for Named {
    type Value = (String, Value);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let Self { section, name } = self;
        let opens = match section {
            None => Among::Policy.find(&name).filter(|key| key.is_section()),
            Some(_) => None,
        };
        let value = deserializer.deserialize_any(ValueVisitor { section: opens })?;
        Overrides::check_entry(section, &name, &value).map_err(Error::custom)?;
        Ok((name, value))
    }
}

/// Reads anything, so that what no key takes is refused with the name of its key.
struct ValueVisitor {
    /// What a table is.
    section: Option<Key>,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor { section: None })
    }
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, `true`, `false` or a table")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(String::from(text)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        // Keys read numbers from text as well.
        Ok(i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Text(String::from("null")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if self.section.is_some() {
            return read_entries(map, self.section).map(Value::Table);
        }
        // No key takes it.
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Table(Entries::new()))
    }
}
