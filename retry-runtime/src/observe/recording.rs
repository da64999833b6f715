//! What a test records: see `testing::record`.

use alloc::sync::Arc;
use core::cell::RefCell;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard};

use crate::observe::event::Event;
use crate::observe::reason::Reason;
use crate::sync::lock;

thread_local! {
    static RECORDED: RefCell<Option<Recorded>> = const { RefCell::new(None) };
}

/// How many recordings are on, in all threads. Every failure checks this first, because thread-local state is
/// expensive.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

/// What all who hold a clone have recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    entries: Arc<Mutex<Vec<Entry>>>,
    /// What makes an entry of an event: known to who records, so that no program without tests has code for it.
    entry: fn(&Event<'_>) -> Entry,
}

impl Default for Recorded {
    fn default() -> Self {
        Self::from_iter([])
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) call: String,
    /// `None` of what is not logged.
    pub(crate) line: Option<String>,
    pub(crate) delay: Option<Duration>,
    pub(crate) end: Option<RecordedEnd>,
}

/// The attempts of a call that ended, and why it gave up if it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedEnd {
    pub(crate) attempts: u32,
    pub(crate) reason: Option<Reason>,
}

impl Entry {
    fn of(event: &Event<'_>) -> Self {
        Self {
            call: event.call().to_owned(),
            line: Some(event.to_string()),
            delay: match event {
                Event::Retrying { delay, .. } | Event::Correcting { delay, .. } => Some(*delay),
                _ => None,
            },
            end: RecordedEnd::of(event),
        }
    }
}

impl RecordedEnd {
    fn of(event: &Event<'_>) -> Option<Self> {
        let (attempts, reason) = match *event {
            Event::GaveUp {
                attempts, reason, ..
            } => (attempts, Some(reason)),
            Event::Succeeded { attempts, .. } => (attempts, None),
            Event::FellBack { attempt, .. } => (attempt, None),
            _ => return None,
        };
        Some(Self { attempts, reason })
    }
}

impl Recorded {
    pub(crate) fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        lock(&self.entries)
    }

    /// Formats before it locks: the user's `Display` may make a call of its own.
    pub(crate) fn saw(&self, event: &Event<'_>) {
        let entry = (self.entry)(event);
        self.entries().push(entry);
    }

    #[cfg(feature = "batch")]
    fn saw_end(&self, event: &Event<'_>) {
        let entry = Entry {
            call: event.call().to_owned(),
            line: None,
            delay: None,
            end: RecordedEnd::of(event),
        };
        self.entries().push(entry);
    }

    fn saw_line(&self, call: &str, event: &dyn fmt::Display) {
        let entry = Entry {
            call: call.to_owned(),
            line: Some(event.to_string()),
            delay: None,
            end: None,
        };
        self.entries().push(entry);
    }
}

impl FromIterator<Entry> for Recorded {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self {
            entries: Arc::new(Mutex::new(entries.into_iter().collect())),
            entry: Entry::of,
        }
    }
}

/// Records there what this thread's calls report, or nowhere. Returns where it did before.
pub(crate) fn replace(recorded: Option<Recorded>) -> Option<Recorded> {
    let begins = recorded.is_some();
    let before = RECORDED.replace(recorded);
    match (begins, before.is_some()) {
        (true, false) => RECORDINGS.fetch_add(1, Ordering::Relaxed),
        (false, true) => RECORDINGS.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
    before
}

/// Whether any thread records.
#[inline]
pub(crate) fn is_on() -> bool {
    RECORDINGS.load(Ordering::Relaxed) != 0
}

pub(crate) fn saw(event: &Event<'_>) {
    if let Some(recorded) = here() {
        recorded.saw(event);
    }
}

/// Sees the end of a call that the log has from other events.
#[cfg(feature = "batch")]
pub(crate) fn saw_end(event: &Event<'_>) {
    if let Some(recorded) = here() {
        recorded.saw_end(event);
    }
}

#[inline]
pub(crate) fn saw_line(call: &str, event: &dyn fmt::Display) {
    if let Some(recorded) = here() {
        recorded.saw_line(call, event);
    }
}

/// Where this thread's calls are recorded.
#[inline]
pub(crate) fn here() -> Option<Recorded> {
    is_on()
        .then(|| RECORDED.with_borrow(Clone::clone))
        .flatten()
}
