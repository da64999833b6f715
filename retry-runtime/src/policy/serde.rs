//! Policies in configuration files: tables with the keys documented at `Overrides`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use ::serde::ser::{Serialize, Serializer};

use crate::policy::{
    Backoff, Entries, Jitter, KeyValue, Overrides, Policy, PolicyError, RawValue, Settings,
};

/// Writes a table of the keys that `Display` prints: durations are text, `max` is a number or `"unlimited"`, `jitter`
/// is a word, a number or a text such as `"+0.2"`, and sections are tables.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.all_in_force().values())
    }
}

/// Writes a table of the layer's keys, in the same form as a [`Policy`]'s.
impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.policy.values())
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
            Self::Section(section) => serializer.collect_map(section.values()),
            text => serializer.collect_str(&text),
        }
    }
}

/// Reads a table, and builds a value from it inside the deserializer, so that the format can add a line number to an
/// error.
struct TableVisitor<R, T> {
    /// Also called with each part of the table, as a check, so that the format can add the part's position to an error.
    read: fn(Entries) -> Result<R, PolicyError>,
    build: fn(R) -> Result<T, PolicyError>,
}

/// Reads a table: `read` creates a value from its keys, and `build` creates the result from that value.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, R, T>(
    deserializer: D,
    read: fn(Entries) -> Result<R, PolicyError>,
    build: fn(R) -> Result<T, PolicyError>,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(TableVisitor { read, build })
}

impl<'de, R, T> Visitor<'de> for TableVisitor<R, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let entries = read_entries(map, &|part| (self.read)(part).map(drop))?;
        let read = (self.read)(entries).and_then(self.build);
        read.map_err(Error::custom)
    }
}

type Check<'a, T> = &'a dyn Fn(T) -> Result<(), PolicyError>;

/// Reads a table, and checks each entry as if it were the only one.
fn read_entries<'de, A: MapAccess<'de>>(
    mut map: A,
    check: Check<'_, Entries>,
) -> Result<Entries, A::Error> {
    let mut entries = Entries::new();
    while let Some(name) = map.next_key::<String>()? {
        let check = |value| check(Entries::from([(name.clone(), value)]));
        let value = map.next_value_seed(RawVisitor { check: &check })?;
        entries.push((name, value));
    }
    Ok(entries)
}

/// Reads a value of any type, so that an error about a wrong type comes from the check, with the key's name.
struct RawVisitor<'a> {
    check: Check<'a, RawValue>,
}

impl<'de> DeserializeSeed<'de> for RawVisitor<'_> {
    type Value = RawValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawValue, D::Error> {
        let check = self.check;
        let value = deserializer.deserialize_any(self)?;
        check(value.clone()).map_err(Error::custom)?;
        Ok(value)
    }
}

macro_rules! scalars {
    ($($visit:ident: $scalar:ty),+) => {$(
        fn $visit<E>(self, scalar: $scalar) -> Result<RawValue, E> {
            Ok(RawValue::One(scalar.to_string()))
        }
    )+};
}

impl<'de> Visitor<'de> for RawVisitor<'_> {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, `true`, `false` or a table")
    }

    scalars!(visit_str: &str, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_bool: bool);

    fn visit_unit<E: Error>(self) -> Result<RawValue, E> {
        self.visit_str("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawValue, A::Error> {
        let mut values = Vec::new();
        let accept = |_| Ok(());
        while let Some(value) = list.next_element_seed(RawVisitor { check: &accept })? {
            values.push(String::from(value.as_text()));
        }
        Ok(RawValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawValue, A::Error> {
        let check = |entries| (self.check)(RawValue::Table(entries));
        // If a table is not allowed here, fail before reading its entries.
        check(Entries::new()).map_err(Error::custom)?;
        read_entries(map, &check).map(RawValue::Table)
    }
}
