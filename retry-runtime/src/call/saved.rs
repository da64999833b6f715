//! Serializes a call, so that another process can continue it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use retry_classify::Kind;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::call::Call;

const RETRIES: &str = "retries";
const CORRECTIONS: &str = "corrections";
const LAST_DELAY: &str = "last_delay_ns";
const SPENT: &str = "spent_ns";
const FOLLOWED: &str = "last_retry_followed";

impl Call {
    /// The counts that are saved if they are not zero.
    fn rare_counts(&mut self) -> impl Iterator<Item = (&'static str, &mut u32)> {
        let kinds = Kind::OF_FAILURES.map(Kind::name).into_iter();
        kinds.zip(&mut self.retries_by_kind).chain([
            ("earlier_retries", &mut self.backoff_offset),
            ("attempts_before_progress", &mut self.other_attempts),
            ("max", &mut self.max),
            ("paused_ms", &mut self.paused_ms),
        ])
    }
}

/// A map of the retries, the corrections, and the last delay and the time spent in nanoseconds. Further entries, if
/// they are set: the retries by kind, the retries and attempts before the last progress, the last `max`, the sum of the
/// pauses in milliseconds, and the kind of failure before the last retry.
impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut call = self.into_saved();
        let spent = call.spent_before_load;
        let rare: Vec<_> = call
            .rare_counts()
            .filter(|(_, count)| **count > 0)
            .collect();
        // Binary formats need the length in advance.
        let length = 4 + rare.len() + usize::from(self.last_retry_kind.is_some());
        let mut table = serializer.serialize_map(Some(length))?;
        table.serialize_entry(RETRIES, &self.retries)?;
        table.serialize_entry(CORRECTIONS, &self.corrections)?;
        table.serialize_entry(LAST_DELAY, &self.last_delay)?;
        table.serialize_entry(SPENT, &spent)?;
        for (key, count) in rare {
            table.serialize_entry(key, count)?;
        }
        if let Some(kind) = self.last_retry_kind {
            table.serialize_entry(FOLLOWED, kind.name())?;
        }
        table.end()
    }
}

/// Missing keys count as zero, except `retries`, which is required. Unknown keys are ignored.
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
            match key.as_str() {
                RETRIES if has_retries => return Err(A::Error::duplicate_field(RETRIES)),
                RETRIES => {
                    call.retries = table.next_value()?;
                    has_retries = true;
                }
                CORRECTIONS => call.corrections = table.next_value()?,
                // The call was saved during this pause.
                LAST_DELAY => {
                    call.last_delay = table.next_value()?;
                    call.is_pausing = true;
                }
                SPENT => call.spent_before_load = table.next_value()?,
                FOLLOWED => {
                    let name: String = table.next_value()?;
                    let mut kinds = Kind::OF_FAILURES.into_iter();
                    call.last_retry_kind = kinds.find(|kind| kind.name() == name);
                }
                key => match call.rare_counts().find(|(known, _)| *known == key) {
                    Some((_, count)) => *count = table.next_value()?,
                    None => drop(table.next_value::<IgnoredAny>()?),
                },
            }
        }
        if has_retries {
            // Without a retry since the last progress, the last delay is not a pause, but only the basis for later
            // delays.
            call.is_pausing &= call.is_retried();
            call.has_outcome =
                call.is_retried() || call.other_attempts > 0 || call.backoff_offset > 0;
            Ok(call)
        } else {
            Err(A::Error::missing_field(RETRIES))
        }
    }
}
