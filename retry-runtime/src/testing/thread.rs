//! Test settings of the calling thread.

use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorder};
use crate::time::random;
use crate::time::skip::{self, Skipped};

/// Restores this thread's previous setting when dropped.
#[derive(Debug)]
struct Restored<T> {
    previous: Option<T>,
    replace: fn(Option<T>) -> Option<T>,
    /// Prevents the value from leaving the thread.
    thread: PhantomData<*const ()>,
}

impl<T> Restored<T> {
    fn set(replace: fn(Option<T>) -> Option<T>, by: T) -> Self {
        Self {
            previous: replace(Some(by)),
            replace,
            thread: PhantomData,
        }
    }
}

impl<T> Drop for Restored<T> {
    fn drop(&mut self) {
        (self.replace)(self.previous.take());
    }
}

/// Seeds the jitter and the call ids of this thread: the same seed gives the same delays.
///
/// The sequence may differ between versions of this crate and between platforms.
pub fn seed(seed: u64) -> Seeded {
    let generator = SmallRng::seed_from_u64(seed);
    Seeded(Restored::set(random::replace, generator))
}

/// Restores this thread's randomness when dropped. Returned by [`seed`].
#[derive(Debug)]
#[must_use = "the seed is in force until this value is dropped"]
pub struct Seeded(#[expect(dead_code, reason = "dropped")] Restored<SmallRng>);

/// Skips the pauses of this thread's calls, both blocking pauses and pauses on tokio's timer. Skipped time counts as
/// elapsed, even for deadlines.
///
/// Nothing else is skipped. An attempt's `timeout` still uses tokio's clock, real or paused, so a client with a timeout
/// can be tested against a fake server.
pub fn skip_sleeps() -> SkippedSleeps {
    let skipped = Skipped::default();
    SkippedSleeps {
        _restored: Restored::set(skip::replace, skipped.clone()),
        skipped,
    }
}

/// Stops skipping sleeps when dropped. Returned by [`skip_sleeps`].
#[derive(Debug)]
#[must_use = "sleeps are skipped until this value is dropped"]
pub struct SkippedSleeps {
    _restored: Restored<Skipped>,
    skipped: Skipped,
}

impl SkippedSleeps {
    /// The time skipped so far.
    pub fn total(&self) -> Duration {
        self.skipped.total()
    }
}

/// Records the log of this thread's calls. The feature `tracing` is not needed.
pub fn record() -> Recording {
    let recorder = Recorder::new();
    Recording {
        _restored: Restored::set(recording::replace, recorder.clone()),
        recorder,
    }
}

/// The log of calls since [`record`] was called, with the methods of a [`Recorder`]. Ends the recording when dropped.
#[derive(Debug)]
#[must_use = "events are recorded until this value is dropped"]
pub struct Recording {
    _restored: Restored<Recorder>,
    recorder: Recorder,
}

impl Deref for Recording {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        &self.recorder
    }
}
