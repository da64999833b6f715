use std::error::Error;
use std::fmt;
use std::io;

use crate::DurableError;

/// Lets `?` take the errors of a journal beside those of calls.
impl<E> From<JournalError> for DurableError<E, JournalError> {
    fn from(error: JournalError) -> Self {
        Self::Engine { error, last: None }
    }
}

/// Why a journal can't be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The file can't be read or written. All steps that were kept before are still there.
    Io(io::Error),
    /// Another program has the journal open, or this one does.
    InUse,
    /// A line is not as it was written, or is missing; or the file is no journal. Nothing was changed.
    Damaged {
        /// The line's number, from 1.
        line: u64,
    },
    /// A later version of this crate has written the file. Nothing was changed.
    Version(u32),
    /// The file was removed or replaced since it was opened, so another program may have begun the
    /// run anew. No further step runs, and none is kept. On Windows, this goes unnoticed.
    Replaced,
    /// JSON can't hold a result, or what is kept is not of the type that the program asks for. A result that can't be
    /// written and read again, such as `NaN` or a map whose keys aren't text, is not kept: its step runs again at the next
    /// start.
    Json {
        /// The step's name.
        step: String,
        /// What is wrong with its result.
        error: serde_json::Error,
    },
    /// The journal sleeps with tokio's timer, and is used outside a tokio runtime. The step did not run.
    NoRuntime,
    /// Two steps since the journal was opened have this name. The second did not run.
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
                "the journal is open already, in another program or in this one: only one can have it",
            ),
            Self::Damaged { line } => write!(
                f,
                "line {line} of the journal is not as it was written, or the file is no journal: restore it from a \
                 copy; or find out what its steps did, and move it away: then every step runs again"
            ),
            Self::Version(version) => write!(
                f,
                "the journal has format {version}, of a later version of retry-durable: run the program with that"
            ),
            Self::Replaced => f.write_str(
                "the journal's file was removed or replaced while it was open: another program may have begun the run \
                 anew; end this one",
            ),
            Self::Json { step, error } => write!(f, "the result of step `{step}`: {error}"),
            Self::NoRuntime => f.write_str(
                "the journal sleeps with tokio's timer, and there is no tokio runtime here: run it in one, as under \
                 `#[tokio::main]`",
            ),
            Self::Twice(name) => write!(
                f,
                "two steps of one run are named `{name}`: name each differently; to run again, open the journal again"
            ),
        }
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Their own texts are in this one's.
            Self::Io(error) => error.source(),
            Self::Json { error, .. } => error.source(),
            _ => None,
        }
    }
}
