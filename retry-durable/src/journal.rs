use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retry_runtime::Moment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::{DurableError, Engine};

/// An [`Engine`] in the program itself: a file for each run, such as for one order.
///
/// Each line is a step. It is on the disk before the program goes on. A line that was being written when the program
/// ended is no step, and opening the file again removes it.
///
/// ```
/// use retry_durable::{Engine, Journal};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("order 44");
/// let first = Journal::open(&path)?;
/// assert_eq!(first.step("number", async { 7 }).await?, 7);
/// drop(first);
///
/// let again = Journal::open(&path)?;
/// assert_eq!(again.step("number", async { 8 }).await?, 7);
/// # Ok(())
/// # }
/// ```
///
/// A name is for one step each time the journal is opened. To run the program again in the same process, or a call that
/// was dropped, drop the journal and open it again. A sleep takes two names: its own, and that with `: over` behind it.
///
/// Results are kept as JSON, which can't tell `Some(())` from `None`: it comes back as `None`.
///
/// Its clock is the system's when it is opened, and goes on with tokio's. Its steps and pauses need a tokio runtime that
/// has a timer. Delete the file once its run is done.
#[derive(Debug)]
pub struct Journal {
    state: Mutex<State>,
    /// When it was opened, by both clocks.
    opened: (Duration, Instant),
}

#[derive(Debug)]
struct State {
    file: File,
    /// The results from before it was opened that no step has asked for yet, in JSON.
    kept: HashMap<String, Box<RawValue>>,
    /// The names of the steps since then, ended or under way.
    asked: HashSet<String>,
    /// Whether the end of the file is that of a line.
    is_whole: bool,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    step: String,
    #[serde(borrow)]
    result: &'a RawValue,
}

impl Journal {
    /// Opens the journal of a run that goes on, or begins one. The file is locked: a second program can't open it
    /// meanwhile. A new file is on the disk before this returns; on Unix, so is its name in the directory, which must
    /// be readable for that.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let path = path.as_ref();
        // Not to append: Windows does not let such a file be cut.
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse,
            TryLockError::Error(error) => JournalError::Io(error),
        })?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        let rest = &text[whole..];
        let mut kept = HashMap::new();
        let mut number = 1;
        for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
            let line: Line<'_> =
                serde_json::from_slice(line).map_err(|_| JournalError::Damaged { line: number })?;
            kept.entry(line.step)
                .or_insert_with(|| line.result.to_owned());
            number += 1;
        }
        // Zeros are what some file systems leave of a line after a crash.
        let is_begun = |begin: &[u8]| rest.starts_with(begin) || begin.starts_with(rest);
        if !is_begun(br#"{"step":""#) && !is_begun(&[0]) {
            return Err(JournalError::Damaged { line: number });
        }
        if !rest.is_empty() {
            file.set_len(u64::try_from(whole).unwrap_or(u64::MAX))?;
        }
        file.sync_all()?;
        if text.is_empty() {
            sync_entry(path)?;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            state: Mutex::new(State {
                file,
                kept,
                asked: HashSet::new(),
                is_whole: true,
            }),
            opened: (since.unwrap_or_default(), Instant::now()),
        })
    }

    /// Takes that name for a step. Returns what is kept of it from before.
    fn ask(&self, name: &str) -> Result<Option<Box<RawValue>>, JournalError> {
        let mut state = self.lock();
        if !state.asked.insert(name.to_owned()) {
            return Err(JournalError::Twice(name.to_owned()));
        }
        Ok(state.kept.remove(name))
    }

    fn keep(&self, name: &str, result: &RawValue) -> Result<(), JournalError> {
        let line = Line {
            step: name.to_owned(),
            result,
        };
        let mut line = serde_json::to_vec(&line).map_err(JournalError::json(name))?;
        line.push(b'\n');
        Ok(self.lock().append(&line)?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the name of a new file to the disk: on Unix, syncing the file is not enough.
fn sync_entry(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        // That of the file itself, where this is a link to it.
        if let Some(directory) = path.canonicalize()?.parent() {
            File::open(directory)?.sync_all()?;
        }
    }
    Ok(())
}

impl State {
    /// Writes a line, or nothing.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if !self.is_whole {
            return Err(io::Error::other("the journal could not be written before"));
        }
        let end = self.file.seek(SeekFrom::End(0))?;
        let written = self
            .file
            .write_all(line)
            .and_then(|()| self.file.sync_data());
        if written.is_err() {
            self.is_whole = self.file.set_len(end).is_ok();
        }
        written
    }
}

/// A step that is not kept yet. Its name is free again if it never is.
struct UnderWay<'a> {
    journal: &'a Journal,
    name: &'a str,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.journal.lock().asked.remove(self.name);
    }
}

impl Engine for Journal {
    type Error = JournalError;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        // Before the first attempt, not at the first pause, which may come much later.
        if Handle::try_current().is_err() {
            return Err(JournalError::NoRuntime);
        }
        // Panics in tokio's words where the runtime has no timer.
        drop(tokio::time::sleep(Duration::ZERO));
        let text = if let Some(kept) = self.ask(name)? {
            kept
        } else {
            let under_way = UnderWay {
                journal: self,
                name,
            };
            let result = step.await;
            let text =
                serde_json::value::to_raw_value(&result).map_err(JournalError::json(name))?;
            self.keep(name, &text)?;
            mem::forget(under_way);
            text
        };
        // What is read again after a restart, and so also now.
        serde_json::from_str(text.get()).map_err(JournalError::json(name))
    }

    async fn sleep(&self, name: &str, pause: Duration) -> Result<(), JournalError> {
        let end = async { self.now().since_origin().saturating_add(pause) };
        let end: Duration = self.step(name, end).await?;
        // Never more than all of it: the clock may have been set back.
        let left = Moment::from_origin(end).since(self.now()).min(pause);
        // Once it is over it stays over, wherever the clock is set.
        self.step(&format!("{name}: over"), tokio::time::sleep(left))
            .await
    }

    fn now(&self) -> Moment {
        let (since, opened) = self.opened;
        Moment::from_origin(since.saturating_add(opened.elapsed()))
    }
}

/// So that `?` takes the errors of a journal beside those of calls.
impl<E> From<JournalError> for DurableError<E, JournalError> {
    fn from(error: JournalError) -> Self {
        Self::Engine { error, last: None }
    }
}

/// Why a journal can't be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The file can't be read or written.
    Io(io::Error),
    /// Another program has opened it, or this one has and still holds it.
    InUse,
    /// A line is no step.
    Damaged {
        /// Which, from 1.
        line: u64,
    },
    /// JSON can't hold a result, or it is not of the type that the program asks for. A result that can't be written, such
    /// as a map whose keys aren't text, is not kept: its step runs again at the next start.
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
    fn json(step: &str) -> impl FnOnce(serde_json::Error) -> Self {
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
            Self::Damaged { line } => write!(f, "line {line} of the journal is no step"),
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
            Self::InUse | Self::Damaged { .. } | Self::NoRuntime | Self::Twice(_) => None,
        }
    }
}
