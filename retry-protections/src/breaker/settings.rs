use std::time::Duration;

use retry_runtime::seam::Transition;

/// The settings of a breaker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The failure ratio that opens the breaker.
    pub(super) ratio: f64,
    /// 0 if not set.
    pub(super) minimum_calls: u32,
    /// The number of consecutive failures that opens the breaker. 0 if not set.
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

/// The longest run of an attempt, in milliseconds: 24 days. A longer run means that this thread's clock is behind the
/// clock of the thread on which the attempt started.
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
}

pub(super) const fn is_ratio(ratio: f64) -> bool {
    ratio > 0.0 && ratio <= 1.0
}
