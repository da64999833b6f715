//! What a test records: see `testing::record`.

use alloc::sync::Arc;
use core::cell::RefCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::observe::call_end::CallEnd;
use crate::observe::event::Event;
use crate::observe::fields::Fields;

thread_local! {
    static RECORDED: RefCell<Option<Recorded>> = const { RefCell::new(None) };
}

/// How many recordings are on, in all threads. Every failure checks this first, because thread-local state is
/// expensive.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

/// Events in the order in which they were recorded, shared by all clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded(Arc<Mutex<Vec<RecordedEvent>>>);

#[derive(Clone, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) call: String,
    /// `None` of what is not logged.
    pub(crate) line: Option<String>,
    pub(crate) delay: Option<Duration>,
    pub(crate) end: Option<CallEnd>,
}

impl RecordedEvent {
    fn of(event: &Event<'_>, line: Option<String>) -> Self {
        Self {
            call: event.call.to_owned(),
            line,
            delay: event.pause(),
            end: event.call_end(),
        }
    }
}

impl Recorded {
    pub(crate) fn entries(&self) -> MutexGuard<'_, Vec<RecordedEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Formats before it locks: the user's `Display` may make a call of its own.
    pub(crate) fn record(&self, event: &Event<'_>) {
        let entry = RecordedEvent::of(event, Some(event.to_string()));
        self.entries().push(entry);
    }
}

impl FromIterator<RecordedEvent> for Recorded {
    fn from_iter<I: IntoIterator<Item = RecordedEvent>>(entries: I) -> Self {
        Self(Arc::new(Mutex::new(entries.into_iter().collect())))
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

pub(crate) fn record(event: &Event<'_>) {
    if let Some(recorded) = here() {
        recorded.record(event);
    }
}

/// Records the end of a call that the log has from other events.
#[cfg(feature = "batch")]
pub(crate) fn record_end(event: &Event<'_>) {
    if let Some(recorded) = here() {
        recorded.entries().push(RecordedEvent::of(event, None));
    }
}

/// Records a line that is no event's.
#[inline]
pub(crate) fn record_line(call: &str, line: &Fields<'_>) {
    if let Some(recorded) = here() {
        let entry = RecordedEvent {
            call: call.to_owned(),
            line: Some(line.to_string()),
            delay: None,
            end: None,
        };
        recorded.entries().push(entry);
    }
}

/// Where this thread's calls are recorded.
#[inline]
pub(crate) fn here() -> Option<Recorded> {
    is_on()
        .then(|| RECORDED.with_borrow(Clone::clone))
        .flatten()
}
