use std::time::Duration;

use retry_runtime::Moment;

/// A CUSUM test for a sudden outage: each failure adds 1, each success subtracts a weight, and the sum never falls
/// below zero. Random failures rarely raise it far, so it detects an outage earlier than the ratio of a window, most of
/// which lies before the outage.
#[derive(Debug)]
pub(super) struct Cusum {
    sum: u32,
    /// When the sum last rose from zero.
    since: Moment,
}

impl Cusum {
    pub(super) const fn new() -> Self {
        Self {
            sum: 0,
            since: Moment::from_origin(Duration::ZERO),
        }
    }

    /// Counts successes. `weight` is the number of failures that one success cancels out.
    pub(super) fn succeeded(&mut self, times: u32, weight: u32) {
        self.sum = self.sum.saturating_sub(times.saturating_mul(weight));
    }

    /// Counts a failure. `in_window` is the number of failures in the window, including this one: older ones no longer
    /// count.
    pub(super) fn failed(&mut self, now: Moment, in_window: u32) {
        if self.sum == 0 || in_window <= 1 {
            *self = Self { sum: 0, since: now };
        }
        self.sum = self.sum.saturating_add(1).min(in_window);
    }

    /// Returns true if the sum is at least `sum`, and has been above zero for at least `length`.
    pub(super) fn tells(&self, sum: u32, length: Duration, now: Moment) -> bool {
        self.sum >= sum && now.since(self.since) >= length
    }
}
