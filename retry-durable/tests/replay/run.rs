use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use retry_durable::{Engine, Journal, JournalError};
use retry_runtime::seam::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::time::{Instant, sleep_until};

/// A directory with a run's journal.
pub(crate) struct Run {
    directory: TempDir,
    pub(crate) path: PathBuf,
}

impl Run {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("run");
        Self { directory, path }
    }

    pub(crate) fn open(&self) -> Journal {
        Journal::open(&self.path).unwrap()
    }

    /// The names of all files in the directory, sorted.
    pub(crate) fn files(&self) -> Vec<OsString> {
        let entries = fs::read_dir(&self.directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    }
}

/// A journal with one clock for all program runs, which a test can set: a journal's own clock starts with the system
/// clock.
pub(crate) struct OneClock {
    pub(crate) journal: Journal,
    pub(crate) clock: Instant,
    /// The time by which the clock is ahead of the first run's clock.
    pub(crate) ahead: Duration,
    /// False if the program is killed at the start of a pause.
    pub(crate) sleeps: bool,
}

impl Engine for OneClock {
    type Error = JournalError;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        self.journal.step(name, step).await
    }

    async fn sleep(&self, name: &str, pause: Duration) -> Result<(), JournalError> {
        if !self.sleeps {
            return std::future::pending().await;
        }
        let end = self.step(name, async { self.clock.elapsed() + pause });
        sleep_until(self.clock + end.await?).await;
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.clock.elapsed() + self.ahead)
    }
}
