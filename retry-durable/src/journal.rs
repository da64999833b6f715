mod error;
mod file;
mod line;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{io, mem};

use retry_runtime::seam::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::Engine;
pub use crate::journal::error::JournalError;
use crate::journal::file::{JournalFile, Location, Steps};
use crate::journal::line::Line;

/// An [`Engine`] inside the program, with one file per run, for example per order.
///
/// Each line is a step. It is on disk before the program continues. If the program ends while a line is being written,
/// the partial line is removed when the file is opened again.
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
/// Use each name for only one step until the journal is opened again. To run the program again in the same process, or
/// to repeat a call that was dropped, drop the journal and open it again. A sleep uses two names: its name, and its
/// name followed by `: over`.
///
/// Results are stored as JSON, which doesn't distinguish `Some(())` from `None`: both are read back as `None`.
///
/// A journal reads the system clock when it is opened. From then on, it uses tokio's clock, so changes of the system
/// clock have no effect. The journal's clock never goes back: if the system clock is behind the time of the last step,
/// the journal's clock continues from that step. Steps and pauses need a tokio runtime with a timer. Delete the file
/// once the run is done.
#[derive(Debug)]
pub struct Journal {
    /// `None` once the journal is dropped.
    file: Arc<Mutex<Option<JournalFile>>>,
    location: Location,
    names: Mutex<StepNames>,
    /// The time when the journal was opened, by the journal's clock and by tokio's.
    opened: (Duration, Instant),
}

#[derive(Debug)]
struct StepNames {
    /// The stored results that no step has used since the journal was opened.
    kept: Steps,
    /// The names of the steps since the journal was opened, ended or running.
    used: HashSet<String>,
}

impl Journal {
    /// Opens the journal of a run, or creates it. The file is locked, so a second program can't open it. A new file is
    /// on disk before this method returns. On Unix, its directory entry is, too, so the directory must be readable.
    ///
    /// Blocks the thread until the whole file is read, checked and on disk.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let (file, location, kept) = JournalFile::open(path.as_ref())?;
        let used = HashSet::new();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // If the system clock was set back, continue from the time of the last step.
        let since = since.unwrap_or_default().max(file.time);
        Ok(Self {
            file: Arc::new(Mutex::new(Some(file))),
            location,
            names: Mutex::new(StepNames { kept, used }),
            opened: (since, Instant::now()),
        })
    }

    /// Returns the sorted names of the steps in the file that the program has not used since it opened the journal.
    /// Once the run is done, these are steps that were removed from the code or renamed. A renamed step has run a
    /// second time. Steps inside an attempt that has ended are also included.
    ///
    /// ```
    /// use retry_durable::{Engine, Journal};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("order 45");
    /// Journal::open(&path)?.step("charge", async { "receipt".to_owned() }).await?;
    ///
    /// let renamed = Journal::open(&path)?;
    /// renamed.step("charge card", async { "receipt".to_owned() }).await?;
    /// assert_eq!(renamed.unasked(), ["charge"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn unasked(&self) -> Vec<String> {
        let mut names: Vec<_> = self.lock_names().kept.results.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Reserves the name for a step. Returns its stored result, if any.
    fn reserve_name(&self, name: &str) -> Result<Option<Box<RawValue>>, JournalError> {
        let mut names = self.lock_names();
        if !names.used.insert(name.to_owned()) {
            return Err(JournalError::Twice(name.to_owned()));
        }
        Ok(names.kept.results.remove(name))
    }

    /// Writes a result to the file.
    async fn store_result(
        &self,
        name: &str,
        attempt: Option<u32>,
        result: &RawValue,
    ) -> Result<(), JournalError> {
        let at = self.now().since_origin();
        let line = Line::new(at, name, attempt, result).json()?;
        let ended = WriteOnDrop(Arc::new(PendingLine {
            file: Arc::clone(&self.file),
            line: Mutex::new(Some(line)),
        }));
        let writing = Arc::clone(&ended.0);
        let written = spawn_blocking(move || writing.write());
        written.await.map_err(io::Error::from)??;
        self.location.check()
    }

    /// Runs a step, or an attempt with its number, or returns its stored result.
    async fn run<T, S>(&self, name: &str, attempt: Option<u32>, step: S) -> Result<T, JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        // Check this before the first attempt: the first pause may be much later.
        if Handle::try_current().is_err() {
            return Err(JournalError::NoRuntime);
        }
        // Panics with tokio's message if the runtime has no timer.
        drop(tokio::time::sleep(Duration::ZERO));
        if let Some(kept) = self.reserve_name(name)? {
            return serde_json::from_str(kept.get()).map_err(JournalError::json(name));
        }
        let guard = NameGuard {
            journal: self,
            name,
        };
        self.location.check()?;
        let result = step.await;
        let json = serde_json::value::to_raw_value(&result).map_err(JournalError::json(name))?;
        // Return the result as it would be read after a restart. A result that can't be read is not stored, because
        // each later run would fail here.
        let result = serde_json::from_str(json.get()).map_err(JournalError::json(name))?;
        // From here on, the result is stored even if this future is dropped.
        mem::forget(guard);
        if let Err(error) = self.store_result(name, attempt, &json).await {
            self.lock_names().used.remove(name);
            return Err(error);
        }
        Ok(result)
    }

    fn lock_names(&self) -> MutexGuard<'_, StepNames> {
        lock(&self.names)
    }
}

/// Unlocks the file, so that it can be opened again at once, even if a thread still has a reference to it.
impl Drop for Journal {
    fn drop(&mut self) {
        *lock(&self.file) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct PendingLine {
    file: Arc<Mutex<Option<JournalFile>>>,
    /// The line as JSON, `None` once it is written.
    line: Mutex<Option<String>>,
}

impl PendingLine {
    /// Writes the line, unless it is already written.
    fn write(&self) -> io::Result<()> {
        // Lock the file first, so that a second caller waits until the line is on disk.
        let mut file = lock(&self.file);
        match (lock(&self.line).take(), &mut *file) {
            (Some(line), Some(file)) => file.append(&line),
            _ => Ok(()),
        }
    }
}

/// A step that has ended. A blocking thread writes it, or its `Drop` does if the waiting future is dropped first.
struct WriteOnDrop(Arc<PendingLine>);

impl Drop for WriteOnDrop {
    fn drop(&mut self) {
        // If this fails, the step runs again at the next start, as after a crash at this moment.
        drop(self.0.write());
    }
}

/// A step that is not stored yet. Releases the step's name when dropped.
struct NameGuard<'a> {
    journal: &'a Journal,
    name: &'a str,
}

impl Drop for NameGuard<'_> {
    fn drop(&mut self) {
        self.journal.lock_names().used.remove(self.name);
    }
}

impl Engine for Journal {
    type Error = JournalError;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        self.run(name, None, step).await
    }

    async fn attempt<T, S>(
        &self,
        call: &str,
        number: u32,
        pause: Option<Duration>,
        attempt: S,
    ) -> Result<(u32, T), JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        let first = self.lock_names().kept.first_attempts.remove(call);
        let number = first.unwrap_or(number);
        if let Some(pause) = pause {
            let name = format!("{call}: pause {}", number - 1);
            self.sleep(&name, pause).await?;
        }
        let name = format!("{call}: attempt {number}");
        Ok((number, self.run(&name, Some(number), attempt).await?))
    }

    async fn sleep(&self, name: &str, pause: Duration) -> Result<(), JournalError> {
        let end = async { self.now().since_origin().saturating_add(pause) };
        let end: Duration = self.step(name, end).await?;
        // At most the whole pause: the clock may have been set back.
        let left = Moment::from_origin(end).since(self.now()).min(pause);
        // Store that the pause is over, so that later changes of the clock have no effect.
        self.step(&format!("{name}: over"), tokio::time::sleep(left))
            .await
    }

    fn now(&self) -> Moment {
        let (since, opened) = self.opened;
        Moment::from_origin(since.saturating_add(opened.elapsed()))
    }
}
