//! Formats errors with their causes, shortened and with secrets redacted.

pub(crate) mod chain;
pub(crate) mod secrets;
pub(crate) mod shown;
mod urls;

use alloc::string::String;
use core::fmt::{self, Write};
use core::ops::Range;

/// The replacement for a possible secret.
const ELLIPSIS: &str = "…";

/// The output of a `Display` impl. If the impl fails, the text written so far is kept.
fn text_of(text: &dyn fmt::Display) -> String {
    let mut shown = String::new();
    let _ = write!(shown, "{text}");
    shown
}

/// A part of a text. Indexing a `str` would add 8 KB of panic messages to each program.
fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

// The functions below search bytes, because all patterns are ASCII. The methods of `str` would be compiled once per
// pattern, in every program that retries.

/// The number of leading bytes that match, at most `max`.
fn prefix_len(bytes: &[u8], max: usize, is_match: impl Fn(&u8) -> bool) -> usize {
    let bytes = &bytes[..bytes.len().min(max)];
    let end = bytes.iter().position(|byte| !is_match(byte));
    end.unwrap_or(bytes.len())
}

/// The bytes without the trailing bytes that match.
fn trim_end(bytes: &[u8], is_match: fn(&u8) -> bool) -> &[u8] {
    let last = bytes.iter().rposition(|byte| !is_match(byte));
    &bytes[..last.map_or(0, |last| last + 1)]
}
