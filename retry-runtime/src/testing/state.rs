use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorder};
use crate::time::random;
use crate::time::skip::{self, Skipped};

/// What a test has put in force on a thread, or takes from one to another.
pub(crate) struct State {
    pub(super) recorder: Option<Recorder>,
    pub(super) skipped: Option<Skipped>,
    pub(super) generator: Option<SmallRng>,
}

impl State {
    /// What is in force here, for what works for this thread elsewhere. A generator that was seeded seeds another.
    pub(crate) fn here() -> Self {
        Self {
            recorder: recording::here(),
            skipped: skip::here(),
            generator: random::seeded(SmallRng::from_rng),
        }
    }

    /// Has that work done elsewhere as it would be here.
    #[cfg(feature = "batch")]
    pub(crate) fn carry(work: impl FnOnce()) -> impl FnOnce() {
        let mut state = Self::here();
        move || {
            let _entered = state.enter();
            work();
        }
    }

    /// Puts it in force on this thread until what is returned is dropped.
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

/// While it is there, the state holds what was in force before.
pub(crate) struct Entered<'a>(&'a mut State);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.swap();
    }
}
