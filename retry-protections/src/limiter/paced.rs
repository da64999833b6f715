use retry_runtime::Moment;

use crate::limiter::gate::Gate;

/// A gate with a rate.
pub trait Paced: Gate {
    /// The cost that may begin per second; infinite without a limit.
    fn rate(&self) -> f64 {
        self.per_second().unwrap_or(f64::INFINITY)
    }

    /// The cost that may begin at once. May be below 0 while more than a burst is owed.
    fn available(&self, now: Moment) -> f64;

    /// Returns true if the gate, created with the settings of `new`, may be forgotten. False if an operator has changed
    /// them.
    fn is_at_rest(&self, new: &Self, is_unused: bool, now: Moment) -> bool;
}
