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
use crate::policy::value::Entries;
#[cfg(feature = "serde")]
use crate::policy::value::RawValue;

/// Reads and overrides the numbers of a protection. Behind each key is a function of the key and a
/// text, which reads a value or complains. A method named behind the type looks at all together.
macro_rules! numbers {
    ($numbers:ident $(, $check:ident)? { $($key:ident: $read:expr;)* }) => {
        impl $numbers {
            pub(crate) fn of(entries: $crate::policy::value::Entries) -> Result<Self, PolicyError> {
                let keys = [$(stringify!($key)),*];
                let [$($key),*] = $crate::policy::protection_numbers::texts(keys, entries)?;
                $(let $key = $key.map(|text| $read(stringify!($key), &text)).transpose();)*
                let numbers = Self { $($key: $key.map_err(PolicyError::new)?),* };
                $(numbers.$check()?;)?
                Ok(numbers)
            }

            /// Lays other numbers over these.
            pub(crate) fn overridden_by(self, later: Self) -> Self {
                Self { $($key: later.$key.or(self.$key)),* }
            }
        }

        impl core::str::FromStr for $numbers {
            type Err = PolicyError;

            fn from_str(text: &str) -> Result<Self, PolicyError> {
                Self::of($crate::policy::text::entries(text, 0)?)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $numbers {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::policy::protection_numbers::read_table(deserializer, Self::of)
            }
        }
    };
}

pub(crate) use numbers;

/// The texts of the values that are named, in the order of these keys.
pub(crate) fn texts<const N: usize>(
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

/// Reads a number that is within its range.
pub(crate) fn number<N: FromStr>(
    key: &str,
    text: &str,
    is_valid: impl FnOnce(&N) -> bool,
    range: &str,
) -> Result<N, String> {
    let number = text.parse().ok().filter(is_valid);
    number.ok_or_else(|| complaint::out_of_range(&key, &short(text), range))
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
