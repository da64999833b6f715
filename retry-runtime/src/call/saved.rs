//! A call that goes on in another process: its numbers as a table.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::call::state::Call;
use crate::classify::kind::Kind;

/// A table of whole numbers: retries and corrections so far, the last delay and the time spent in nanoseconds.
impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = [
            ("retries", u64::from(self.shared)),
            ("corrections", u64::from(self.corrections)),
            ("last_delay_ns", self.previous),
            ("spent_ns", self.before.saturating_add(self.spent)),
        ];
        let own = Kind::ALL.into_iter().zip(self.own);
        let own = own.filter(|(_, count)| *count > 0);
        let own = own.map(|(kind, count)| (kind.name(), u64::from(count)));
        serializer.collect_map(counts.into_iter().chain(own))
    }
}

/// What the table does not name is zero, but for `retries`, which every saved call has. Other keys are passed over.
impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let number = |key: &str| table.get(key).copied();
        let count = |key: &str| {
            let count = number(key).unwrap_or_default();
            u32::try_from(count)
                .map_err(|_| D::Error::custom(format!("`{key} = {count}` is no count of a call")))
        };
        if number("retries").is_none() {
            return Err(D::Error::missing_field("retries"));
        }
        let mut call = Self::after(count("retries")?);
        for kind in Kind::ALL {
            call.own[kind as usize] = count(kind.name())?;
        }
        call.corrections = count("corrections")?;
        call.previous = number("last_delay_ns").unwrap_or_default();
        call.before = number("spent_ns").unwrap_or_default();
        Ok(call)
    }
}
