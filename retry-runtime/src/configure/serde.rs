//! Configuration files: tables with the keys documented at `Overrides`, for one policy or for named calls.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use ::serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use retry_vocabulary::key::{Among, Key};

use crate::configure::named::{BREAKER, LIMITER, Named};
use crate::configure::numbers::{BreakerNumbers, LimiterNumbers};
use crate::configure::policies::Policies;
use crate::policy::error::{PolicyError, refused, short};
use crate::policy::value::{Entries, KeyValue, RawValue};
use crate::policy::{Overrides, Policy};

macro_rules! from_table {
    ($($(#[$doc:meta])* $type:ty: $table:ident, $of:expr;)*) => {$(
        $(#[$doc])*
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let table = Table::$table;
                deserializer.deserialize_map(TableVisitor { table, of: $of })
            }
        }
    )*};
}

from_table! {
    /// Reads the keys in a table, on top of [`Policy::new`]. [`Overrides`] lists them.
    Policy: Policy, |entries| Self::new().overridden_by(&Overrides::from_entries(entries)?);
    Overrides: Policy, Self::from_entries;
    Policies: Policies, Self::from_entries;
    BreakerNumbers: BreakerNumbers, Self::from_entries;
    LimiterNumbers: LimiterNumbers, Self::from_entries;
}

/// The meaning of a table's entries.
#[derive(Clone, Copy)]
enum Table {
    /// Names of calls.
    Policies,
    /// Keys of a policy and settings of protections, for the named calls.
    Entry,
    /// Keys of a policy.
    Policy,
    /// Keys of this section.
    Section(Key),
    BreakerNumbers,
    LimiterNumbers,
}

impl Table {
    /// The meaning of an entry's value, if it is a table.
    fn within(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Policies, _) => Some(Self::Entry).filter(|_| name != Key::Enabled.name()),
            (Self::Entry, BREAKER) => Some(Self::BreakerNumbers),
            (Self::Entry, LIMITER) => Some(Self::LimiterNumbers),
            (Self::Entry | Self::Policy, _) => {
                let section = Among::Policy.find(name).filter(|key| key.is_section());
                section.map(Self::Section)
            }
            _ => None,
        }
    }

    /// Checks one entry. The entries of nested tables were already checked.
    fn check(self, name: &str, value: &RawValue) -> Result<(), PolicyError> {
        let within = self.within(name);
        match (value, within) {
            (RawValue::Table(_), Some(Self::Entry)) | (_, None) => {}
            (RawValue::Table(_), _) => return Ok(()),
            (_, Some(within)) => return Err(within.expected(name, value)),
        }
        let entries = Entries::from([(name.to_owned(), value.clone())]);
        match self {
            Self::Policies => Policies::from_entries(entries).map(drop),
            Self::Entry => Named::from_entries(entries).map(drop),
            Self::Policy => Overrides::from_entries(entries).map(drop),
            Self::Section(key) => {
                let section = (key.name().to_owned(), RawValue::Table(entries));
                Overrides::from_entries(Entries::from([section])).map(drop)
            }
            Self::BreakerNumbers => BreakerNumbers::from_entries(entries).map(drop),
            Self::LimiterNumbers => LimiterNumbers::from_entries(entries).map(drop),
        }
    }

    /// The error for another value in place of this table.
    fn expected(self, name: &str, value: &RawValue) -> PolicyError {
        let example = match self {
            Self::BreakerNumbers => "ratio = 0.8",
            Self::LimiterNumbers => "most = 5",
            _ => "max = 5",
        };
        let (given, known) = (short(value.single()), Among::Policy.find(name));
        let name = short(name);
        match (self, known) {
            (Self::Entry, Some(key)) => refused!(
                "`{name} = {given}` is not a table of a policy's keys, such as `default`, for all calls: write `{key}` there"
            ),
            _ => refused!(
                "`{name} = {given}` is not a section: write a table of its keys, as in `{name} = {{ {example} }}`"
            ),
        }
    }
}

/// Reads a table, and calls the function before the format is done, so that the format adds its line to the function's
/// error, too.
struct TableVisitor<T> {
    table: Table,
    of: fn(Entries) -> Result<T, PolicyError>,
}

impl<'de, T> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.table {
            Table::Policies => "a table of policies by the names of calls",
            Table::BreakerNumbers | Table::LimiterNumbers => "a table of numbers",
            _ => "a table of a policy's keys",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        (self.of)(read_entries(map, self.table)?).map_err(Error::custom)
    }
}

fn read_entries<'de, A: MapAccess<'de>>(mut map: A, table: Table) -> Result<Entries, A::Error> {
    let mut entries = Entries::new();
    while let Some(name) = map.next_key()? {
        entries.push(map.next_value_seed(EntrySeed { table, name })?);
    }
    Ok(entries)
}

/// Reads the value of an entry and rejects an invalid one at once, so that the format adds the value's position.
struct EntrySeed {
    table: Table,
    name: String,
}

impl<'de> DeserializeSeed<'de> for EntrySeed {
    type Value = (String, RawValue);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let table = self.table.within(&self.name);
        let value = deserializer.deserialize_any(RawVisitor { table })?;
        let checked = self.table.check(&self.name, &value);
        checked.map_err(Error::custom)?;
        Ok((self.name, value))
    }
}

/// Reads any value, so that a value which no key accepts is rejected with the key's name.
struct RawVisitor {
    /// The meaning of a table; `None` if no key accepts one.
    table: Option<Table>,
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor { table: None })
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
        if let Some(table) = self.table {
            return read_entries(map, table).map(RawValue::Table);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RawValue::Table(Entries::new()))
    }
}
