//! An error with what caused it, as `outer: cause: cause`.

use alloc::string::String;
use core::error::Error;
use core::fmt::{self, Write};
use core::iter;

use crate::error_text::{secrets, text_of};

/// More causes than a reader follows. An error that names itself as its source has no last one.
const MOST: usize = 16;

/// Writes the error, then `within`, which it hands out as the error that it holds, then the sources. A text that is how
/// the one before ends is not repeated: many errors have that of their source in their own.
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
    for cause in causes.by_ref().take(MOST) {
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
    // Otherwise the cause would be hidden, as the value of what the error before names.
    if secrets::is_named(text) {
        text.push_str("caused by ");
    }
    text.push_str(&cause);
}

/// Writes the error, then its sources.
pub(crate) fn write_error(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write(f, &error, None, error.source())
}
