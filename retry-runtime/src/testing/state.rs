use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorder};
use crate::time::random;
use crate::time::skip::{self, Skipped};

/// A test's settings on a thread, which can be carried to another.
pub(crate) struct State {
    pub(super) recorder: Option<Recorder>,
    pub(super) skipped: Option<Skipped>,
    pub(super) generator: Option<SmallRng>,
}

impl State {
    /// The current settings, for work for this thread that runs elsewhere. A seeded generator seeds a new one.
    pub(crate) fn here() -> Self {
        Self {
            recorder: recording::here(),
            skipped: skip::here(),
            generator: random::seeded(SmallRng::from_rng),
        }
    }

    /// Makes the work run elsewhere with the current settings.
    #[cfg(feature = "batch")]
    pub(crate) fn carry(work: impl FnOnce()) -> impl FnOnce() {
        let mut state = Self::here();
        move || {
            let _entered = state.enter();
            work();
        }
    }

    /// Applies the settings to this thread until the returned value is dropped.
    pub(crate) fn enter(&mut self) -> Entered<'_> {
        self.swap();
        Entered(self)
    }

    fn swap(&mut self) {
        self.recorder = recording::replace(self.recorder.take());
        self.skipped = skip::replace(self.skipped.take());
        self.generator = random::replace(self.generator.take());
    }
}

/// While this exists, the state contains the previous settings.
pub(crate) struct Entered<'a>(&'a mut State);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.swap();
    }
}
