//! Events that a test records: see `testing::record`.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::observe::event::Event;

thread_local! {
    static RECORDED: RefCell<Option<Recorded>> = const { RefCell::new(None) };
}

/// How many recordings are on, in all threads. Every failure checks this first, because thread-local state is
/// expensive.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

/// What one recording holds.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) lines: Vec<String>,
    pub(crate) delays: Vec<Duration>,
}

/// Begins a recording on this thread. Returns the one that was on before.
pub(crate) fn begin() -> Option<Recorded> {
    RECORDINGS.fetch_add(1, Ordering::Relaxed);
    RECORDED.replace(Some(Recorded::default()))
}

/// Ends this thread's recording, and goes on with the one before.
pub(crate) fn end(before: Option<Recorded>) {
    RECORDED.set(before);
    RECORDINGS.fetch_sub(1, Ordering::Relaxed);
}

pub(crate) fn read<T: Default>(read: impl FnOnce(&Recorded) -> T) -> T {
    RECORDED.with_borrow(|recorded| recorded.as_ref().map(read).unwrap_or_default())
}

/// Whether any thread records.
#[inline]
pub(crate) fn is_on() -> bool {
    RECORDINGS.load(Ordering::Relaxed) != 0
}

pub(crate) fn saw(event: &Event<'_>) {
    if !is_on_here() {
        return;
    }
    saw_line(event);
    if let Event::Retrying { delay, .. } | Event::Correcting { delay, .. } = event {
        RECORDED.with_borrow_mut(|recorded| {
            if let Some(recorded) = recorded {
                recorded.delays.push(*delay);
            }
        });
    }
}

#[inline]
pub(crate) fn saw_line(event: &dyn fmt::Display) {
    if !is_on_here() {
        return;
    }
    // Formatted before the recording is borrowed: the user's `Display` may make a call of its own.
    let line = event.to_string();
    RECORDED.with_borrow_mut(|recorded| {
        if let Some(recorded) = recorded {
            recorded.lines.push(line);
        }
    });
}

#[inline]
fn is_on_here() -> bool {
    is_on() && RECORDED.with_borrow(Option::is_some)
}
