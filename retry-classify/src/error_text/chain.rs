//! Writes an error and its causes, as `outer: cause: cause`.

use alloc::string::String;
use core::error::Error;
use core::fmt::{self, Write};
use core::iter;

use crate::error_text::{secrets, text_of};

/// The maximum number of causes that are shown. It ends the text of an error that is its own source.
const MAX_CAUSES: usize = 16;

/// Writes the error, then `within` (the error inside a wrapper), then the sources. A cause is skipped if the text so
/// far already ends with the cause's text, because many errors include their source's text.
pub(crate) fn write(
    f: &mut dyn Write,
    error: &dyn fmt::Display,
    within: Option<&dyn fmt::Display>,
    source: Option<&(dyn Error + 'static)>,
) -> fmt::Result {
    let mut text = text_of(error);
    if let Some(within) = within {
        add_cause(&mut text, within);
    }
    let mut causes = iter::successors(source, |&cause| cause.source());
    for cause in causes.by_ref().take(MAX_CAUSES) {
        add_cause(&mut text, &cause);
    }
    if causes.next().is_some() {
        text.push_str(": …");
    }
    f.write_str(&text)
}

fn add_cause(text: &mut String, cause: &dyn fmt::Display) {
    let cause = text_of(cause);
    if text.ends_with(&cause) {
        return;
    }
    text.push_str(": ");
    // Without these words, the cause would be hidden as a secret, because the previous error ends with a secret's name.
    if secrets::ends_with_name(text) {
        text.push_str("caused by ");
    }
    text.push_str(&cause);
}

/// Writes the error, then its sources.
pub(crate) fn write_error(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write(f, &error, None, error.source())
}
