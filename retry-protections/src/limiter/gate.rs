use std::time::Duration;

use retry_runtime::{AdmissionState, AttemptOutcome, Change, Moment};

/// The limit behind a limiter's queue: data that is told the time. The queue handles the order, wakers, and the pauses
/// that servers ask for.
pub trait Gate {
    /// The cost that may begin per second, where there is such a rate; infinite while nothing
    /// limits it.
    fn per_second(&self) -> Option<f64> {
        None
    }

    /// Whether it spreads attempts that waited for a pause to end. Otherwise the queue lets them begin slowly.
    fn has_pace(&self) -> bool {
        self.per_second().is_some_and(f64::is_finite)
    }

    /// What the gate knows of the limiter's state, without the queue.
    fn state(&self) -> AdmissionState {
        let mut state = AdmissionState::default();
        state.rate = self.per_second();
        state
    }

    /// Lets an attempt begin now, and charges it. Returns a stamp of its own, to know later what was in force when it
    /// began; or for how long it has to wait, `None` until another attempt ends. Asked again, it may say something
    /// else.
    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>>;

    /// Tells the gate how an attempt that it let begin has ended, with its cost and stamp. Called exactly once for
    /// each.
    fn ended(
        &mut self,
        cost: u32,
        stamp: u32,
        outcome: AttemptOutcome,
        now: impl Now,
    ) -> Option<Change>;
}

/// Reads the clock, where it is needed.
pub trait Now: FnOnce() -> Moment {}

impl<F: FnOnce() -> Moment> Now for F {}
