//! Policies as tables with the keys documented at `Overrides`.

use ::serde::ser::{Serialize, Serializer};

use crate::policy::settings::Settings;
use crate::policy::value::KeyValue;
use crate::policy::{Backoff, Jitter, Overrides, Policy};

/// Writes a table of the keys that `Display` prints: durations are text, `max` is a number or `"unlimited"`, `jitter`
/// is a word or a number, and sections are tables.
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
