//! Policies as tables with the keys documented at `Overrides`.

use ::serde::ser::{Serialize, Serializer};

use crate::policy::value::{KeyValue, Setting};
use crate::policy::{Backoff, Jitter, Overrides, Policy};

/// Writes a table of the keys that `Display` prints: durations are text, `max` is a number or `"unlimited"`, `jitter`
/// is a word or a number, and sections are tables.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Overrides::all_of(self).serialize(serializer)
    }
}

/// Writes a table of the layer's keys, in the same form as a [`Policy`]'s.
impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Setting::Section(self.settings()).serialize(serializer)
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
