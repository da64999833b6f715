//! Serializes a call that gave up, for machine-readable reports.

use alloc::vec::Vec;
use core::fmt;

use retry_classify::macro_support::shown;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::call::failed_attempt::FailedAttempt;
use crate::call::gave_up::GaveUp;

/// Times are in seconds, and the words are those of the log.
impl<E: fmt::Display, T> Serialize for GaveUp<E, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("GaveUp", 7)?;
        report.serialize_field("reason", &Text(self.reason()))?;
        report.serialize_field("attempts", &self.attempts())?;
        report.serialize_field("corrections", &self.corrections())?;
        report.serialize_field("elapsed", &self.elapsed().as_secs_f64())?;
        report.serialize_field("error", &Text(shown(self.error())))?;
        report.serialize_field("failures", &self.failures().collect::<Vec<_>>())?;
        report.serialize_field("failures_left_out", &self.errors_left_out())?;
        report.end()
    }
}

impl<E: fmt::Display> Serialize for FailedAttempt<'_, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut failed = serializer.serialize_struct("FailedAttempt", 5)?;
        failed.serialize_field("attempt", &self.number)?;
        failed.serialize_field("began", &self.began.map(|began| began.as_secs_f64()))?;
        failed.serialize_field("kind", &self.kind.map(Text))?;
        failed.serialize_field("pause", &self.pause.map(|pause| pause.as_secs_f64()))?;
        failed.serialize_field("error", &Text(shown(self.error)))?;
        failed.end()
    }
}

/// Serializes a `Display` value as a string.
struct Text<D>(D);

impl<D: fmt::Display> Serialize for Text<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
