//! Tests without waiting and without chance: record what calls do, skip their sleeps, seed their jitter.
//!
//! Async tests need little of it: under `tokio::time::pause` (or `#[tokio::test(start_paused = true)]`)
//! every pause takes no time and elapsed times are exact. The rest is here:
//!
//! ```
//! use std::time::Duration;
//! use retry_runtime::{retry, testing};
//!
//! #[retry(max = 2, base = "1s", jitter = "none", name = "disk.read", on = |_| true)]
//! fn read() -> Result<(), String> {
//!     Err(String::from("busy"))
//! }
//!
//! let skipped = testing::skip_sleeps();
//! let recording = testing::record();
//! assert!(read().is_err());
//! assert_eq!(skipped.total(), Duration::from_secs(3));
//! assert_eq!(
//!     recording.lines(),
//!     [
//!         "retrying disk.read attempt=1 max=2 delay=1s error=busy reason=transient",
//!         "retrying disk.read attempt=2 max=2 delay=2s error=busy reason=transient",
//!         "gave up disk.read attempt=3 max=2 error=busy reason=exhausted",
//!     ],
//! );
//! ```
//!
//! Each of these acts on the thread that it was called on, until the value it returned is dropped; values
//! are dropped in the reverse order of their making. A test on tokio's multi-threaded runtime, whose tasks
//! move between threads, can't use them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand::rngs::SmallRng;

use crate::event::Event;
use crate::random;

thread_local! {
    static SKIP: Cell<bool> = const { Cell::new(false) };
    static SKIPPED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

/// How many recordings are on, in all threads: what every failure looks at first, since a thread's own state is dear.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

/// Keeps a guard on the thread whose state it holds.
type NotSend = PhantomData<*const ()>;

/// Seeds the jitter and the call ids of this thread: the same seed gives the same delays.
///
/// The sequence is stable for one version of this crate on one platform only.
pub fn seed(seed: u64) -> Seeded {
    Seeded {
        before: Some(random::reseed(seed)),
        thread: PhantomData,
    }
}

/// Restores this thread's randomness when dropped. Made by [`seed`].
#[derive(Debug)]
#[must_use = "the seed is in force until this value is dropped"]
pub struct Seeded {
    before: Option<SmallRng>,
    thread: NotSend,
}

impl Drop for Seeded {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            random::restore(before);
        }
    }
}

/// Skips the sleeps of this thread's calls, blocking ones and those on tokio's timer. Deadlines and elapsed
/// times see the skipped time as passed.
pub fn skip_sleeps() -> SkippedSleeps {
    SkippedSleeps {
        skip: SKIP.replace(true),
        skipped: SKIPPED.replace(Duration::ZERO),
        thread: PhantomData,
    }
}

/// Ends the skipping of sleeps when dropped. Made by [`skip_sleeps`].
#[derive(Debug)]
#[must_use = "sleeps are skipped until this value is dropped"]
pub struct SkippedSleeps {
    skip: bool,
    skipped: Duration,
    thread: NotSend,
}

impl SkippedSleeps {
    /// The time that was skipped so far.
    pub fn total(&self) -> Duration {
        SKIPPED.get()
    }
}

impl Drop for SkippedSleeps {
    fn drop(&mut self) {
        SKIP.set(self.skip);
        SKIPPED.set(self.skipped);
    }
}

/// How long to sleep really where a call asks for `duration`.
#[inline]
pub(crate) fn to_sleep(duration: Duration) -> Duration {
    if is_skipping() {
        skip(duration)
    } else {
        duration
    }
}

#[inline]
pub(crate) fn is_skipping() -> bool {
    SKIP.get()
}

#[cold]
#[inline(never)]
fn skip(duration: Duration) -> Duration {
    SKIPPED.set(SKIPPED.get().saturating_add(duration));
    Duration::ZERO
}

pub(crate) fn skipped() -> Duration {
    SKIPPED.get()
}

#[derive(Debug, Default)]
struct Record {
    lines: Vec<String>,
    delays: Vec<Duration>,
}

/// Records what this thread's calls log, whether or not the feature `tracing` is on.
pub fn record() -> Recording {
    RECORDINGS.fetch_add(1, Ordering::Relaxed);
    Recording {
        before: RECORD.replace(Some(Record::default())),
        thread: PhantomData,
    }
}

/// What calls logged since [`record`] made it. Ends the recording when dropped.
#[derive(Debug)]
#[must_use = "events are recorded until this value is dropped"]
pub struct Recording {
    before: Option<Record>,
    thread: NotSend,
}

impl Recording {
    /// The events so far, a line each, as [`Event`]'s `Display` prints them.
    pub fn lines(&self) -> Vec<String> {
        self.read(|record| record.lines.clone())
    }

    /// The pauses so far.
    pub fn delays(&self) -> Vec<Duration> {
        self.read(|record| record.delays.clone())
    }

    /// Only exists to be called on a value, so that the recording is still on.
    #[expect(
        clippy::unused_self,
        reason = "the value proves that a recording is on"
    )]
    fn read<T: Default>(&self, read: impl FnOnce(&Record) -> T) -> T {
        RECORD.with_borrow(|record| record.as_ref().map(read).unwrap_or_default())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORD.set(mem::take(&mut self.before));
        RECORDINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether any thread records.
#[inline]
pub(crate) fn is_recording() -> bool {
    RECORDINGS.load(Ordering::Relaxed) != 0
}

pub(crate) fn saw(event: &Event<'_>) {
    if !is_recorded() {
        return;
    }
    saw_line(event);
    if let Event::Retrying { delay, .. } | Event::Correcting { delay, .. } = event {
        RECORD.with_borrow_mut(|record| {
            if let Some(record) = record {
                record.delays.push(*delay);
            }
        });
    }
}

#[inline]
pub(crate) fn saw_line(event: &dyn fmt::Display) {
    if !is_recorded() {
        return;
    }
    // Printed before the record is borrowed: the user's `Display` may make a call of its own.
    let line = event.to_string();
    RECORD.with_borrow_mut(|record| {
        if let Some(record) = record {
            record.lines.push(line);
        }
    });
}

#[inline]
fn is_recorded() -> bool {
    is_recording() && RECORD.with_borrow(Option::is_some)
}
