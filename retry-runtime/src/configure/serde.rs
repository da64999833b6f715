//! Configuration files: tables with the keys documented at `Overrides`, for one policy or for named calls.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};

use crate::configure::policies::Policies;
use crate::policy::error::PolicyError;
use crate::policy::numbers::{BreakerNumbers, LimiterNumbers};
use crate::policy::value::{Entries, RawValue};
use crate::policy::{Overrides, Policy};

macro_rules! from_table {
    ($($(#[$doc:meta])* $type:ty: $read:expr, $build:expr;)*) => {$(
        $(#[$doc])*
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (read, build) = ($read, $build);
                deserializer.deserialize_map(TableVisitor { read, build })
            }
        }
    )*};
}

from_table! {
    /// Reads the keys in a table, on top of [`Policy::new`]. [`Overrides`] lists them.
    Policy: Overrides::from_entries, |layer| Self::new().overridden_by(&layer);
    Overrides: Self::from_entries, Ok;
    Policies: Self::from_entries, Ok;
    BreakerNumbers: Self::from_entries, Ok;
    LimiterNumbers: Self::from_entries, Ok;
}

/// Reads a table, and builds a value from it before the format is done, so that the format adds its line to an error.
struct TableVisitor<R, T> {
    /// Also checks each part of the table, so that the format adds the part's position to an error.
    read: fn(Entries) -> Result<R, PolicyError>,
    build: fn(R) -> Result<T, PolicyError>,
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

/// Reads any value, so that the check rejects a wrong one with the key's name.
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

impl<'de> Visitor<'de> for RawVisitor<'_> {
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
        Ok(RawValue::One(number.to_string()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::One(value.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<RawValue, E> {
        self.visit_str("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawValue, A::Error> {
        let mut values = Vec::new();
        let accept = |_| Ok(());
        while let Some(value) = list.next_element_seed(RawVisitor { check: &accept })? {
            values.push(String::from(value.single()));
        }
        Ok(RawValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawValue, A::Error> {
        let check = |entries| (self.check)(RawValue::Table(entries));
        // A table may be wrong here, whatever its entries.
        check(Entries::new()).map_err(Error::custom)?;
        read_entries(map, &check).map(RawValue::Table)
    }
}
