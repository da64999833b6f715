//! The lines of a journal, in JSON, so that people can read them. A store such as redb checks its checksums only after
//! a crash: after a clean shutdown, it does not detect bit flips.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::JournalError;

const FORMAT: u32 = 1;
/// How each line begins. Eight hexadecimal digits follow.
const CHECK: &str = r#"{"check":""#;

/// The first line of a file, the only one that is ever written over: always as long as before, and within one sector of
/// a disk, which is written whole or not at all.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    journal: u32,
    kept: String,
}

impl Header {
    /// The header of a file with this many bytes on the disk.
    pub(super) fn written(kept: u64) -> String {
        let header = Self {
            journal: FORMAT,
            kept: format!("{kept:016}"),
        };
        let json = serde_json::to_string(&header).expect("a number and digits are JSON");
        checkable(0, &json).0
    }

    /// How many bytes are on the disk, according to the first line of that text; and what follows that line.
    pub(super) fn read(text: &str) -> Result<(u64, &str), JournalError> {
        let damaged = JournalError::Damaged { line: 1 };
        let (line, steps) = text.split_at(text.find('\n').map_or(text.len(), |end| end + 1));
        let header = checked(0, line).and_then(|_| serde_json::from_str::<Self>(line).ok());
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
    /// When, by the journal's clock, in milliseconds.
    #[serde(default)]
    at: u64,
    #[serde(borrow)]
    pub(super) step: Cow<'a, str>,
    /// The number of an attempt.
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

    /// Reads the next line, and its check. `None` if it is not what was written there.
    pub(super) fn read(check: u32, line: &'a str) -> Option<(Self, u32)> {
        let check = checked(check, line)?;
        Some((serde_json::from_str(line).ok()?, check))
    }

    /// Reads a file from before lines had checks. What stands after its last whole line was being written.
    pub(super) fn read_unchecked(text: &'a str) -> Result<Vec<Self>, JournalError> {
        let lines = text.split_inclusive('\n');
        let whole = lines.filter(|line| line.ends_with('\n'));
        let read = whole.zip(1..).map(|(line, number)| {
            serde_json::from_str(line).map_err(|_| JournalError::Damaged { line: number })
        });
        read.collect()
    }
}

/// The line of that JSON, and its check, behind lines that end with that check.
///
/// Each check is that of all lines so far, so none can be missing, twice, or elsewhere. The checks themselves are left
/// out: over its own value, a CRC is the same for all lines.
pub(super) fn checkable(check: u32, json: &str) -> (String, u32) {
    // A `RawValue` of the user's may have line breaks. They are between tokens, as texts have them escaped.
    let rest = format!("{}\n", json[1..].replace('\n', " "));
    let check = crc(check, rest.as_bytes());
    (format!("{CHECK}{check:08x}\",{rest}"), check)
}

/// The check of that line, if it is the one that it begins with.
fn checked(check: u32, line: &str) -> Option<u32> {
    let (written, rest) = line.strip_prefix(CHECK)?.split_at_checked(8)?;
    let check = crc(check, rest.strip_prefix("\",")?.as_bytes());
    (u32::from_str_radix(written, 16) == Ok(check)).then_some(check)
}

fn crc(before: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(before);
    hasher.update(bytes);
    hasher.finalize()
}
