//! What acts on the calling thread.

use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;

use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorded};
use crate::testing::recorder::Recorder;
use crate::time::random;
use crate::time::skip::{self, Skipped};

/// Keeps a guard on the thread whose state it holds.
type NotSend = PhantomData<*const ()>;

/// Seeds the jitter and the call ids of this thread: the same seed gives the same delays.
///
/// The sequence is stable for one version of this crate on one platform only.
pub fn seed(seed: u64) -> Seeded {
    Seeded {
        before: random::replace(Some(random::seeded(seed))),
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
        random::replace(self.before.take());
    }
}

/// Skips the pauses of this thread's calls, both blocking pauses and pauses on tokio's timer. For deadlines and elapsed
/// times, the skipped time counts as passed.
///
/// Nothing else is skipped. The `timeout` of an attempt runs on tokio's clock, real or paused, so a client that has one
/// can be tested against a fake server.
pub fn skip_sleeps() -> SkippedSleeps {
    let skipped = Skipped::default();
    SkippedSleeps {
        before: skip::replace(Some(skipped.clone())),
        skipped,
        thread: PhantomData,
    }
}

/// Ends the skipping of sleeps when dropped. Made by [`skip_sleeps`].
#[derive(Debug)]
#[must_use = "sleeps are skipped until this value is dropped"]
pub struct SkippedSleeps {
    before: Option<Skipped>,
    skipped: Skipped,
    thread: NotSend,
}

impl SkippedSleeps {
    /// The time that was skipped so far.
    pub fn total(&self) -> Duration {
        self.skipped.total()
    }
}

impl Drop for SkippedSleeps {
    fn drop(&mut self) {
        skip::replace(self.before.take());
    }
}

/// Records what this thread's calls log, whether or not the feature `tracing` is on.
pub fn record() -> Recording {
    let recorded = Recorded::default();
    Recording {
        before: recording::replace(Some(recorded.clone())),
        recorder: Recorder::of_recorded(recorded),
        thread: PhantomData,
    }
}

/// What calls logged since [`record`] made it, read by the methods of a [`Recorder`]. Ends the recording when dropped.
#[derive(Debug)]
#[must_use = "events are recorded until this value is dropped"]
pub struct Recording {
    before: Option<Recorded>,
    recorder: Recorder,
    thread: NotSend,
}

impl Deref for Recording {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        &self.recorder
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        recording::replace(self.before.take());
    }
}
