//! Tests without waiting and without randomness: record what calls do, skip their sleeps, seed their jitter.
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
//! Each of these acts on the calling thread until the value it returned is dropped. Drop the values in the reverse
//! order of their creation. Tests on tokio's multi-threaded runtime can't use them, because tasks move between threads
//! there.

use std::marker::PhantomData;
use std::time::Duration;

use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorded};
use crate::time::random;
use crate::time::skip::{self, Skipping};

/// Keeps a guard on the thread whose state it holds.
type NotSend = PhantomData<*const ()>;

/// Seeds the jitter and the call ids of this thread: the same seed gives the same delays.
///
/// The sequence is stable for one version of this crate on one platform only.
pub fn seed(seed: u64) -> Seeded {
    Seeded {
        before: random::seed(seed),
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
        random::restore(self.before.take());
    }
}

/// Skips the pauses of this thread's calls, both blocking pauses and pauses on tokio's timer. For deadlines and elapsed
/// times, the skipped time counts as passed.
///
/// Nothing else is skipped. The `timeout` of an attempt runs on tokio's clock, real or paused, so a client that has one can
/// be tested against a fake server.
pub fn skip_sleeps() -> SkippedSleeps {
    SkippedSleeps {
        before: skip::begin(),
        thread: PhantomData,
    }
}

/// Ends the skipping of sleeps when dropped. Made by [`skip_sleeps`].
#[derive(Debug)]
#[must_use = "sleeps are skipped until this value is dropped"]
pub struct SkippedSleeps {
    before: Skipping,
    thread: NotSend,
}

impl SkippedSleeps {
    /// The time that was skipped so far.
    pub fn total(&self) -> Duration {
        skip::skipped()
    }
}

impl Drop for SkippedSleeps {
    fn drop(&mut self) {
        skip::restore(&self.before);
    }
}

/// Records what this thread's calls log, whether or not the feature `tracing` is on.
pub fn record() -> Recording {
    Recording {
        before: recording::begin(),
        thread: PhantomData,
    }
}

/// What calls logged since [`record`] made it. Ends the recording when dropped.
#[derive(Debug)]
#[must_use = "events are recorded until this value is dropped"]
pub struct Recording {
    before: Option<Recorded>,
    thread: NotSend,
}

impl Recording {
    /// The events so far, one line each, as the `Display` of [`Event`](crate::Event) prints them. Errors are as
    /// in the log.
    pub fn lines(&self) -> Vec<String> {
        recording::read(|recorded| recorded.lines.clone())
    }

    /// The pauses so far.
    pub fn delays(&self) -> Vec<Duration> {
        recording::read(|recorded| recorded.delays.clone())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        recording::end(self.before.take());
    }
}
