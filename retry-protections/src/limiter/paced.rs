use retry_runtime::Moment;

use crate::limiter::gate::Gate;

/// A gate with a rate.
pub trait Paced: Gate {
    /// The cost that may begin per second; infinite without a limit.
    fn rate(&self) -> f64 {
        self.per_second().unwrap_or(f64::INFINITY)
    }

    /// How much cost may begin at once; less than 0 where more than all of it is owed.
    fn available(&self, now: Moment) -> f64;

    /// Whether it may be forgotten, made like `new`. Numbers that an operator changed are kept.
    fn is_at_rest(&self, new: &Self, is_unused: bool, now: Moment) -> bool;
}
