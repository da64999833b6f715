//! Serializes a call, so that another process can continue it.

use alloc::string::String;
use core::fmt;

use retry_classify::Kind;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::call::state::Call;

const RETRIES: &str = "retries";
const OFFSET: &str = "earlier_retries";
const FOLLOWED: &str = "last_retry_followed";
const BESIDE: &str = "attempts_before_progress";
const MAX: &str = "max";
const PAUSED: &str = "paused_ms";

/// A map: retries and corrections so far, the last delay and the time spent in nanoseconds, and, if there are any, the
/// retries and the attempts before the last progress, the retries allowed by the last `max` in force, the sum of the
/// pauses, and the kind of failure before the last retry.
impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = [
            (RETRIES, u64::from(self.retries)),
            ("corrections", u64::from(self.corrections)),
            ("last_delay_ns", self.last_delay),
            (
                "spent_ns",
                self.spent_before_load.saturating_add(self.spent),
            ),
        ];
        let own = Kind::OF_FAILURES
            .map(Kind::name)
            .into_iter()
            .zip(self.retries_by_kind);
        let rare = [
            (OFFSET, self.backoff_offset),
            (BESIDE, self.other_attempts),
            (MAX, self.max),
            (PAUSED, self.paused_ms),
        ];
        let rare = own.chain(rare).filter(|(_, count)| *count > 0);
        let rare = rare.map(|(key, count)| (key, u64::from(count)));
        // Binary formats must know the length in advance.
        let length =
            counts.len() + rare.clone().count() + usize::from(self.last_retry_kind.is_some());
        let mut table = serializer.serialize_map(Some(length))?;
        for (key, count) in counts.into_iter().chain(rare) {
            table.serialize_entry(key, &count)?;
        }
        if let Some(kind) = self.last_retry_kind {
            table.serialize_entry(FOLLOWED, kind.name())?;
        }
        table.end()
    }
}

/// Missing keys are zero, except `retries`, which every saved call has. Unknown keys are ignored.
impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Saved)
    }
}

struct Saved;

impl<'de> Visitor<'de> for Saved {
    type Value = Call;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a saved call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Call, A::Error> {
        let mut call = Call::new();
        let mut has_retries = false;
        while let Some(key) = table.next_key::<String>()? {
            let kind = Kind::OF_FAILURES
                .into_iter()
                .find(|kind| kind.name() == key);
            match (key.as_str(), kind) {
                (_, Some(kind)) => call.retries_by_kind[kind as usize] = table.next_value()?,
                (RETRIES, _) if has_retries => return Err(A::Error::duplicate_field(RETRIES)),
                (RETRIES, _) => {
                    call.retries = table.next_value()?;
                    has_retries = true;
                }
                (OFFSET, _) => call.backoff_offset = table.next_value()?,
                ("corrections", _) => call.corrections = table.next_value()?,
                (BESIDE, _) => call.other_attempts = table.next_value()?,
                (MAX, _) => call.max = table.next_value()?,
                // The call was saved during that pause.
                ("last_delay_ns", _) => {
                    call.last_delay = table.next_value()?;
                    call.is_pausing = true;
                }
                (FOLLOWED, _) => {
                    let name: String = table.next_value()?;
                    call.last_retry_kind = Kind::OF_FAILURES
                        .into_iter()
                        .find(|kind| kind.name() == name);
                }
                (PAUSED, _) => call.paused_ms = table.next_value()?,
                ("spent_ns", _) => call.spent_before_load = table.next_value()?,
                _ => {
                    table.next_value::<IgnoredAny>()?;
                }
            }
        }
        if has_retries {
            // After progress, the last delay is only the basis for later ones.
            call.is_pausing &= call.is_retried();
            call.has_outcome =
                call.is_retried() || call.other_attempts > 0 || call.backoff_offset > 0;
            Ok(call)
        } else {
            Err(A::Error::missing_field(RETRIES))
        }
    }
}
