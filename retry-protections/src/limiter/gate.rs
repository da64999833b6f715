use std::time::Duration;

use retry_runtime::seam::{AdmissionState, AttemptOutcome, Change, Moment};

/// The limit behind a limiter's queue. Plain data: the caller passes in the time. The queue handles the order, the
/// wakers, and the pauses that servers request.
pub trait Gate {
    /// The rate, in cost per second; infinite while there is no limit. `None` if the gate has no rate.
    fn per_second(&self) -> Option<f64> {
        None
    }

    /// Returns true if the gate spreads the attempts that waited for a pause to end. Otherwise the queue lets them
    /// start gradually.
    fn has_pace(&self) -> bool {
        self.per_second().is_some_and(f64::is_finite)
    }

    /// The gate's part of the limiter's state.
    fn state(&self) -> AdmissionState {
        let mut state = AdmissionState::default();
        state.rate = self.per_second();
        state
    }

    /// Admits an attempt now and charges it. Returns a stamp for [`leave`](Self::leave), which identifies either the
    /// limit in force or the charge. Otherwise returns the time until the next poll, or `None` to wait for another
    /// attempt to end. A later result may differ.
    fn admit(&mut self, cost: u32, now: impl Now) -> Result<u32, Option<Duration>>;

    /// Records the outcome of an attempt that the gate admitted, with its cost and stamp. Called exactly once for each
    /// attempt.
    fn leave(
        &mut self,
        cost: u32,
        stamp: u32,
        outcome: AttemptOutcome,
        now: impl Now,
    ) -> Option<Change>;
}

/// A gate with a rate.
pub trait Paced: Gate {
    /// The rate, in cost per second; infinite without a limit.
    fn rate(&self) -> f64 {
        self.per_second().unwrap_or(f64::INFINITY)
    }

    /// The cost that may start at once. May be below 0 while more than a burst is owed.
    fn available(&self, now: Moment) -> f64;

    /// Returns true if the gate, created with the settings of `new`, may be removed. False if an operator has changed
    /// the settings.
    fn can_evict(&self, new: &Self, is_unused: bool, now: Moment) -> bool;
}

/// A function that reads the clock. Called only if the gate needs the time.
pub trait Now: FnOnce() -> Moment {}

impl<F: FnOnce() -> Moment> Now for F {}
