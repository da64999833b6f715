//! The lines of a journal, in human-readable JSON. A store such as redb is not used, because it verifies its checksums
//! only after a crash: after a clean shutdown, it does not detect bit flips.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::JournalError;

const FORMAT: u32 = 1;
/// The start of each line. Eight hexadecimal digits follow.
const CHECK: &str = r#"{"check":""#;

/// The first line of a file, the only one that is overwritten. Its length never changes, and it is within one disk
/// sector, which is written completely or not at all.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    journal: u32,
    kept: String,
}

impl Header {
    /// Returns the header of a file with `kept` bytes on disk.
    pub(super) fn line(kept: u64) -> String {
        let header = Self {
            journal: FORMAT,
            kept: format!("{kept:016}"),
        };
        let json = serde_json::to_string(&header).expect("a number and digits are JSON");
        add_checksum(0, &json).0
    }

    /// Returns the number of bytes on disk according to the first line of the text, and the text after that line.
    pub(super) fn read(text: &str) -> Result<(u64, &str), JournalError> {
        let damaged = JournalError::Damaged { line: 1 };
        let (line, steps) = text.split_at(text.find('\n').map_or(text.len(), |end| end + 1));
        let header = verify_checksum(0, line).and_then(|_| serde_json::from_str::<Self>(line).ok());
        match header {
            Some(header) if header.journal != FORMAT => Err(JournalError::Version(header.journal)),
            Some(header) => Ok((header.kept.parse().map_err(|_| damaged)?, steps)),
            None => Err(damaged),
        }
    }
}

/// A step that has ended.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<'a> {
    /// The time by the journal's clock, in milliseconds.
    #[serde(default)]
    at: u64,
    #[serde(borrow)]
    pub(super) step: Cow<'a, str>,
    /// The number of the attempt, if the step is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attempt: Option<u32>,
    #[serde(borrow)]
    pub(super) result: &'a RawValue,
}

impl<'a> Line<'a> {
    pub(super) fn new(
        at: Duration,
        step: &'a str,
        attempt: Option<u32>,
        result: &'a RawValue,
    ) -> Self {
        Self {
            at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            step: Cow::Borrowed(step),
            attempt,
            result,
        }
    }

    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.at)
    }

    pub(super) fn json(&self) -> Result<String, JournalError> {
        serde_json::to_string(self).map_err(JournalError::json(&self.step))
    }

    /// Reads the next line and its checksum. Returns `None` if the line was changed.
    pub(super) fn read(check: u32, line: &'a str) -> Option<(Self, u32)> {
        let check = verify_checksum(check, line)?;
        Some((serde_json::from_str(line).ok()?, check))
    }

    /// Reads lines without verifying checksums, which the old format lacks. Ignores a partial last line.
    pub(super) fn read_unchecked(text: &'a str) -> Result<Vec<Self>, JournalError> {
        let lines = text.split_inclusive('\n');
        let whole = lines.filter(|line| line.ends_with('\n'));
        let read = whole.zip(1..).map(|(line, number)| {
            serde_json::from_str(line).map_err(|_| JournalError::Damaged { line: number })
        });
        read.collect()
    }
}

/// Returns the line for this JSON, and its checksum. `check` is the checksum of the previous line.
///
/// Each checksum covers all lines so far, so a missing, repeated or moved line is detected. It doesn't cover the
/// checksums themselves: a CRC of data that includes its own CRC is constant.
pub(super) fn add_checksum(check: u32, json: &str) -> (String, u32) {
    // A user's `RawValue` may contain line breaks, but only between tokens: in strings they are escaped.
    let rest = format!("{}\n", json[1..].replace('\n', " "));
    let check = crc(check, rest.as_bytes());
    (format!("{CHECK}{check:08x}\",{rest}"), check)
}

/// Returns the checksum of the line, if it matches the one at the start of the line.
fn verify_checksum(check: u32, line: &str) -> Option<u32> {
    let (written, rest) = line.strip_prefix(CHECK)?.split_at_checked(8)?;
    let check = crc(check, rest.strip_prefix("\",")?.as_bytes());
    (u32::from_str_radix(written, 16) == Ok(check)).then_some(check)
}

fn crc(before: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(before);
    hasher.update(bytes);
    hasher.finalize()
}
