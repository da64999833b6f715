use std::error::Error;
use std::{fmt, io};

use crate::DurableError;

/// Lets `?` convert a journal's errors in code that also makes calls.
impl<E> From<JournalError> for DurableError<E, JournalError> {
    fn from(error: JournalError) -> Self {
        Self::Engine { error, last: None }
    }
}

/// An error while reading or writing a journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The file can't be read or written. All steps that were stored earlier are kept.
    Io(io::Error),
    /// The journal is already open, in another program or in this one.
    InUse,
    /// A line was changed or is missing, or the file is not a journal. The file was not modified.
    Damaged {
        /// The number of the line, starting at 1.
        line: u64,
    },
    /// The file was written by a later version of this crate. The file was not modified.
    Version(u32),
    /// The file was removed or replaced since it was opened, so another program may have started the run again. No
    /// further step is run or stored. Not detected on Windows.
    Replaced,
    /// A result can't be converted to JSON and back, or the stored JSON doesn't match the type in the program. A result
    /// that can't be written and read again, such as `NaN` or a map whose keys aren't strings, is not stored: its step
    /// runs again at the next start.
    Json {
        /// The step's name.
        step: String,
        /// The error of the conversion.
        error: serde_json::Error,
    },
    /// The journal was used outside a tokio runtime, but needs tokio's timer. The step did not run.
    NoRuntime,
    /// Two steps since the journal was opened have this name. The second step did not run.
    Twice(String),
}

impl JournalError {
    pub(super) fn json(step: &str) -> impl FnOnce(serde_json::Error) -> Self {
        move |error| Self::Json {
            step: step.to_owned(),
            error,
        }
    }
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the journal can't be read or written: {error}"),
            Self::InUse => f.write_str(
                "the journal is already open, in another program or in this one",
            ),
            Self::Damaged { line } => write!(
                f,
                "line {line} of the journal is damaged, or the file is not a journal: restore a \
                 backup, or check what the steps did and move the file away, so that every step runs again"
            ),
            Self::Version(version) => write!(
                f,
                "the journal has format {version}, from a later version of retry-durable: run the program with that version"
            ),
            Self::Replaced => f.write_str(
                "the journal's file was removed or replaced while it was open, so another program may have started the \
                 run again: end this program",
            ),
            Self::Json { step, error } => write!(f, "the result of step `{step}`: {error}"),
            Self::NoRuntime => f.write_str(
                "the journal needs tokio's timer, but there is no tokio runtime: use it inside one, as under \
                 `#[tokio::main]`",
            ),
            Self::Twice(name) => write!(
                f,
                "two steps of one run are named `{name}`: give each a unique name; to run again, open the journal again"
            ),
        }
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // `Display` already includes the text of these errors.
            Self::Io(error) => error.source(),
            Self::Json { error, .. } => error.source(),
            _ => None,
        }
    }
}
