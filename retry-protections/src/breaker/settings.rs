use std::time::Duration;

use retry_runtime::{Cause, seam::Transition};

use crate::breaker::counts::Calls;

/// The settings of a breaker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The failure ratio that opens the breaker.
    pub(super) ratio: f64,
    /// 0 if not set.
    pub(super) minimum_calls: u32,
    /// The number of consecutive failures that opens the breaker. 0 means no limit.
    pub(super) consecutive: u32,
    pub(super) window: Duration,
    /// The length of the window in calls. 0 if the window is a time.
    pub(super) count_window: u32,
    /// An attempt is slow if it takes at least this time, in milliseconds. 0 if not set.
    pub(super) slow_after: u32,
    /// The ratio of slow attempts that opens the breaker.
    pub(super) slow_ratio: f64,
    /// True if throttled attempts count as failures.
    pub(super) counts_throttled: bool,
    pub(super) open_for: Duration,
    /// The longest `open_for` after failed trials. It never lowers `open_for`.
    pub(super) max_open_for: Duration,
    pub(super) trial_calls: u32,
    /// The number of trial calls that must succeed. 0 means all.
    pub(super) trial_successes: u32,
    /// A dropped attempt counts as a timeout if it ran for at least this time, in milliseconds. 0 if not set.
    pub(super) hung_after: u32,
    pub(super) max_wait: Option<Duration>,
    pub(super) listener: Option<fn(Transition)>,
}

/// The smallest number of failures that counts as a sudden outage. If half of the attempts fail at random, 25 failures
/// in a row are rare: see `docs/lab.md`.
const FEWEST_SUDDEN: u32 = 25;
/// The longest run of an attempt, in milliseconds: 24 days. A longer one means that this thread's clock is behind that
/// of the thread on which the attempt started.
pub(super) const LONGEST_RUN: u32 = u32::MAX / 2;

impl Settings {
    pub(super) const DEFAULT: Self = Self {
        ratio: 0.9,
        minimum_calls: 0,
        consecutive: 0,
        window: Duration::from_secs(30),
        count_window: 0,
        slow_after: 0,
        slow_ratio: 1.0,
        counts_throttled: false,
        open_for: Duration::from_secs(5),
        max_open_for: Duration::ZERO,
        trial_calls: 1,
        trial_successes: 0,
        hung_after: 0,
        max_wait: None,
        listener: None,
    };

    pub(super) fn minimum_calls(&self) -> u32 {
        match (self.count_window, self.minimum_calls) {
            (0, 0) => 100,
            (0, least) => least,
            (last, 0) => last,
            // The window never contains more calls than its length.
            (last, least) => least.min(last),
        }
    }

    pub(super) fn trial_successes(&self) -> u32 {
        match self.trial_successes {
            0 => self.trial_calls,
            some => some,
        }
    }

    /// The value of the CUSUM sum at which an outage counts as sudden.
    pub(super) fn sudden(&self) -> u32 {
        (self.minimum_calls() / 4).max(FEWEST_SUDDEN)
    }

    /// The number of failures that one success cancels out in the CUSUM test: high enough that the sum keeps rising
    /// only if the ratio of failures is above the one that opens the breaker.
    pub(super) fn outweighed(&self) -> f64 {
        let by_ratio = self.ratio / (1.0 - self.ratio).max(1e-6);
        by_ratio.max(self.sudden().into())
    }

    /// The cause for which these counts open the breaker, if they do.
    pub(super) fn opens_at(&self, calls: Calls) -> Option<Cause> {
        // Allows for rounding: `100.0 * 0.07` is 7.000000000000001, and 7 of 100 calls must reach a ratio of 0.07.
        let reaches = |part: u32, ratio: f64| {
            f64::from(part) >= f64::from(calls.ended) * ratio * (1.0 - 1e-9)
        };
        if calls.ended < self.minimum_calls() {
            None
        } else if reaches(calls.failed, self.ratio) {
            Some(Cause::Ratio)
        } else {
            (self.slow_after > 0 && reaches(calls.slow, self.slow_ratio)).then_some(Cause::Slow)
        }
    }
}

pub(super) const fn is_ratio(ratio: f64) -> bool {
    ratio > 0.0 && ratio <= 1.0
}
