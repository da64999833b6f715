use core::mem;
use std::sync::{Mutex, MutexGuard};

use super::totals::Totals;
use crate::error_text::shown::shown;
use crate::observe::event::{Event, EventData};
use crate::observe::observer::Observer;
use crate::sync::lock;

/// Counts what calls do: an observer for the key `observe`.
///
/// ```
/// use retry_runtime::observers::Stats;
/// use retry_runtime::{Reason, retry};
///
/// static STATS: Stats = Stats::new();
///
/// #[retry(max = 2, backoff = "none", observe = &STATS, on = |_| true)]
/// fn read(path: &str) -> Result<String, String> {
///     match path {
///         "here" => Ok(String::from("text")),
///         _ => Err(String::from("busy")),
///     }
/// }
///
/// assert!(read("here").is_ok());
/// assert!(read("gone").is_err());
/// let totals = STATS.totals();
/// assert_eq!((totals.calls(), totals.attempts(), totals.retries()), (2, 4, 2));
/// assert_eq!(totals.gave_up_for(Reason::Exhausted), 1);
/// assert_eq!(totals.last_error(), Some("busy"));
/// assert_eq!(
///     totals.to_string(),
///     "2 calls, 4 attempts, 2 retries; 1 gave up (1 exhausted); last error: busy",
/// );
/// ```
///
/// A batch is one call, whose attempts are its rounds. A plan is one, and each of its subtasks another.
///
/// `Stats` takes a lock for a moment at each failure and at the end of each call.
#[derive(Debug, Default)]
pub struct Stats(Mutex<Totals>);

impl Stats {
    /// An observer that has counted nothing. It can be a `static`.
    pub const fn new() -> Self {
        Self(Mutex::new(Totals::new()))
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        self.counted().clone()
    }

    /// The counts so far. Counting starts from zero again.
    pub fn take(&self) -> Totals {
        mem::take(&mut *self.counted())
    }

    fn counted(&self) -> MutexGuard<'_, Totals> {
        lock(&self.0)
    }
}

impl Observer for Stats {
    fn observe(&self, event: &Event<'_>) {
        if let EventData::Started = event.data {
            return;
        }
        // Formatted before the lock: the user's `Display` may make a call of its own.
        let error = event.fields().error.map(|error| shown(error).to_string());
        self.counted().count(event, error);
    }
}
