mod error;
mod file;
mod line;

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retry_runtime::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::Engine;
pub use crate::journal::error::JournalError;
use crate::journal::file::{JournalFile, Kept, Location};
use crate::journal::line::Line;

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
/// A name is for one step each time the journal is opened. To run the program again in the same
/// process, or to repeat a call that was dropped, drop the journal and open it again. A sleep takes
/// two names: its own, and its own followed by `: over`.
///
/// Results are kept as JSON, which can't tell `Some(())` from `None`: both come back as `None`.
///
/// A journal takes the time from the system's clock when it is opened. From then on, its clock is
/// tokio's, however the system's is set meanwhile. The journal's clock never goes back: if the
/// system's says less than at the last step, the journal's goes on from that step. Steps and pauses
/// need a tokio runtime with a timer. Delete the file once the run is done.
#[derive(Debug)]
pub struct Journal {
    /// None once the journal is dropped.
    file: Arc<Mutex<Option<JournalFile>>>,
    location: Location,
    names: Mutex<Names>,
    /// When it was opened, by both clocks.
    opened: (Duration, Instant),
}

#[derive(Debug)]
struct Names {
    /// What is left from before it was opened: no step has asked for it yet.
    kept: Kept,
    /// The names of the steps since then, ended or under way.
    asked: HashSet<String>,
}

impl Journal {
    /// Opens the journal of a run that goes on, or begins a new one. The file is locked: a second
    /// program can't open it meanwhile. A new file is on the disk before this returns. On Unix, so
    /// is its name in the directory, which must be readable for that.
    ///
    /// Blocks the thread until all of the file is read, checked and on the disk.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let (file, location, kept) = JournalFile::open(path.as_ref())?;
        let asked = HashSet::new();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // Where the system's clock was set back, this one goes on from what it had said.
        let since = since.unwrap_or_default().max(file.time);
        Ok(Self {
            file: Arc::new(Mutex::new(Some(file))),
            location,
            names: Mutex::new(Names { kept, asked }),
            opened: (since, Instant::now()),
        })
    }

    /// The names of the steps in the file that the program has not asked for since it opened the
    /// journal, sorted. Once the run is done, these are steps that the code dropped or renamed. A
    /// renamed step has run a second time. Steps within an attempt that has ended are among these,
    /// too.
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
        let mut names: Vec<_> = self.names().kept.results.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Takes that name for a step. Returns what is kept of it from before.
    fn ask(&self, name: &str) -> Result<Option<Box<RawValue>>, JournalError> {
        let mut names = self.names();
        if !names.asked.insert(name.to_owned()) {
            return Err(JournalError::Twice(name.to_owned()));
        }
        Ok(names.kept.results.remove(name))
    }

    /// Writes that result.
    async fn keep(
        &self,
        name: &str,
        attempt: Option<u32>,
        result: &RawValue,
    ) -> Result<(), JournalError> {
        let at = self.now().since_origin();
        let line = Line::new(at, name, attempt, result).json()?;
        let ended = Unwritten(Arc::new(Writing {
            file: Arc::clone(&self.file),
            line: Mutex::new(Some(line)),
        }));
        let writing = Arc::clone(&ended.0);
        let written = spawn_blocking(move || writing.write());
        written.await.map_err(io::Error::from)??;
        self.location.check()
    }

    /// A step, or an attempt with its number.
    async fn run<T, S>(&self, name: &str, attempt: Option<u32>, step: S) -> Result<T, JournalError>
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
        if let Some(kept) = self.ask(name)? {
            return serde_json::from_str(kept.get()).map_err(JournalError::json(name));
        }
        let under_way = UnderWay {
            journal: self,
            name,
        };
        self.location.check()?;
        let result = step.await;
        let json = serde_json::value::to_raw_value(&result).map_err(JournalError::json(name))?;
        // As it will be read after a restart. What can't be read then is not kept: it would end each run here.
        let result = serde_json::from_str(json.get()).map_err(JournalError::json(name))?;
        // Dropped from here on, it is kept.
        mem::forget(under_way);
        if let Err(error) = self.keep(name, attempt, &json).await {
            self.names().asked.remove(name);
            return Err(error);
        }
        Ok(result)
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        lock(&self.names)
    }
}

/// Unlocks the file, so that it can be opened again at once, also where a thread still holds it.
impl Drop for Journal {
    fn drop(&mut self) {
        *lock(&self.file) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Writing {
    file: Arc<Mutex<Option<JournalFile>>>,
    /// The line as JSON, `None` once it is written.
    line: Mutex<Option<String>>,
}

impl Writing {
    /// Writes the line, unless that is done.
    fn write(&self) -> io::Result<()> {
        // First the file, so that whoever comes second waits until the line is on the disk.
        let mut file = lock(&self.file);
        match (lock(&self.line).take(), &mut *file) {
            (Some(line), Some(file)) => file.append(&line),
            _ => Ok(()),
        }
    }
}

/// A step that has ended. It is written by a thread that may block, or, where nobody waits for that any more, before it
/// is dropped.
struct Unwritten(Arc<Writing>);

impl Drop for Unwritten {
    fn drop(&mut self) {
        // Without success it runs again, as it would have after a crash at this moment.
        drop(self.0.write());
    }
}

/// A step that is not kept yet. Its name is free again if it never is.
struct UnderWay<'a> {
    journal: &'a Journal,
    name: &'a str,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.journal.names().asked.remove(self.name);
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
        let first = self.names().kept.first.remove(call);
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
