//! An error with what caused it, as `outer: cause: cause`.

use alloc::string::String;
use core::error::Error;
use core::fmt::{self, Write};

use crate::error_text::secrets;
use crate::error_text::start::Start;

/// More causes than a reader follows. An error that names itself as its source has no last one.
const MOST: usize = 16;

/// The longest text that is looked for in what was written before.
const LONGEST: usize = 1024;

/// Writes the error, then `within`, which it hands out as the error that it holds, then the sources. A text that is how
/// the one before ends is not repeated: many errors have that of their source in their own.
pub(crate) fn write(
    f: &mut dyn Write,
    error: &dyn fmt::Display,
    within: Option<&dyn fmt::Display>,
    source: Option<&(dyn Error + 'static)>,
) -> fmt::Result {
    let mut written = Written {
        f,
        end: String::new(),
    };
    write!(written, "{error}")?;
    if let Some(within) = within {
        written.cause(within)?;
    }
    let mut next = source;
    for _ in 0..MOST {
        let Some(cause) = next else {
            return Ok(());
        };
        written.cause(&cause)?;
        next = cause.source();
    }
    match next {
        Some(_) => written.f.write_str(": …"),
        None => Ok(()),
    }
}

/// Writes the error, then its sources.
pub(crate) fn write_error(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write(f, &error, None, error.source())
}

/// The method `describe` for a type that is an error: its text, then that of each cause.
macro_rules! describe_with_causes {
    () => {
        fn describe(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            $crate::error_text::chain::write_error(self, f)
        }
    };
}
pub(crate) use describe_with_causes;

/// Keeps the end of what it writes.
struct Written<'a> {
    f: &'a mut dyn Write,
    end: String,
}

impl Written<'_> {
    fn cause(&mut self, cause: &dyn fmt::Display) -> fmt::Result {
        let start = Start::of(cause, LONGEST);
        let text = start.whole();
        if text.is_some_and(|text| self.end.ends_with(text)) {
            return Ok(());
        }
        self.write_str(": ")?;
        // Otherwise the cause would be hidden, as the value of what the error before names.
        if secrets::is_named(&self.end) {
            self.write_str("caused by ")?;
        }
        match text {
            Some(text) => self.write_str(text),
            None => write!(self, "{cause}"),
        }
    }
}

impl Write for Written<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut from = piece.len().saturating_sub(LONGEST);
        while !piece.is_char_boundary(from) {
            from += 1;
        }
        self.end.push_str(&piece[from..]);
        if self.end.len() > 4 * LONGEST {
            let mut from = self.end.len() - LONGEST;
            while !self.end.is_char_boundary(from) {
                from -= 1;
            }
            self.end.drain(..from);
        }
        self.f.write_str(piece)
    }
}
