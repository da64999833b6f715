use std::time::Duration;

use retry_runtime::Moment;

/// A CUSUM test for a sudden outage: failures, less many for each success, and never below zero. Random failures hardly
/// get it far above that, so it tells sooner than a window, most of which is from before the outage.
#[derive(Debug)]
pub(super) struct Cusum {
    sum: u32,
    /// When it last rose from zero.
    since: Moment,
}

impl Cusum {
    pub(super) const fn new() -> Self {
        Self {
            sum: 0,
            since: Moment::from_origin(Duration::ZERO),
        }
    }

    /// `weight` is how many failures a success outweighs.
    pub(super) fn succeeded(&mut self, times: u32, weight: u32) {
        self.sum = self.sum.saturating_sub(times.saturating_mul(weight));
    }

    /// `in_window` is how many failed within the window, this one included: older ones count no more.
    pub(super) fn failed(&mut self, now: Moment, in_window: u32) {
        if self.sum == 0 || in_window <= 1 {
            *self = Self { sum: 0, since: now };
        }
        self.sum = self.sum.saturating_add(1).min(in_window);
    }

    /// Whether it is that high, and has been above zero for that long.
    pub(super) fn tells(&self, sum: u32, length: Duration, now: Moment) -> bool {
        self.sum >= sum && now.since(self.since) >= length
    }
}
