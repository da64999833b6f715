//! Numbers of protections as texts and tables have them: in the grammar of policies, and with its complaints.

use alloc::string::String;
use core::str::FromStr;

use retry_vocabulary::complaint;

use crate::policy::error::{PolicyError, refused, short};
use crate::policy::text;
use crate::policy::value::Entries;

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
pub(crate) fn read_table<'de, T, D: serde::Deserializer<'de>>(
    deserializer: D,
    read: fn(Entries) -> Result<T, PolicyError>,
) -> Result<T, D::Error> {
    use alloc::collections::BTreeMap;
    use serde::de::{Deserialize, Error};

    use crate::policy::value::RawValue;

    let table = BTreeMap::<String, RawValue>::deserialize(deserializer)?;
    read(table.into_iter().collect()).map_err(Error::custom)
}
