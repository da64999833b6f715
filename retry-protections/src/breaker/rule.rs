use std::time::Duration;

use retry_runtime::{Cause, Transition};

use crate::breaker::window::Calls;

/// A breaker's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// A ratio in millionths, so that decimal fractions compare exactly.
    pub(super) ratio: u64,
    /// Zero where nobody said so.
    pub(super) minimum_calls: u32,
    /// Zero for no limit.
    pub(super) consecutive: u32,
    pub(super) window: Duration,
    /// The number of calls that the ratio is taken of. Zero where a time says which.
    pub(super) count_window: u32,
    /// A time in milliseconds; zero for never.
    pub(super) slow_after: u32,
    /// A ratio in millionths.
    pub(super) slow_ratio: u64,
    pub(super) open_for: Duration,
    pub(super) trial_calls: u32,
    /// How many of those must succeed; zero for all.
    pub(super) trial_successes: u32,
    /// A time in milliseconds; zero for never.
    pub(super) hung_after: u32,
    pub(super) max_wait: Option<Duration>,
    pub(super) listener: Option<fn(Transition)>,
}

pub(super) const MILLION: u64 = 1_000_000;
/// The fewest failures that look sudden: so many random ones in a row are rare where half of the
/// attempts fail: see `docs/lab.md`.
const FEWEST_SUDDEN: u32 = 25;
const MOST_GRANTED: u32 = 64;
/// The longest run of an attempt, in milliseconds: 24 days. More is a clock that is behind
/// another's.
pub(super) const LONGEST_RUN: u32 = u32::MAX / 2;

impl Rule {
    pub(super) const DEFAULT: Self = Self {
        ratio: MILLION / 10 * 9,
        minimum_calls: 0,
        consecutive: 0,
        window: Duration::from_secs(30),
        count_window: 0,
        slow_after: 0,
        slow_ratio: MILLION,
        open_for: Duration::from_secs(5),
        trial_calls: 1,
        trial_successes: 0,
        hung_after: 0,
        max_wait: None,
        listener: None,
    };

    /// Whether how long an attempt runs counts.
    pub(super) const fn is_timed(&self) -> bool {
        self.hung_after > 0 || self.slow_after > 0
    }

    pub(super) fn minimum_calls(&self) -> u32 {
        match (self.count_window, self.minimum_calls) {
            (0, 0) => 100,
            (0, least) => least,
            (last, 0) => last,
            // More than the window holds would never be there.
            (last, least) => least.min(last),
        }
    }

    pub(super) fn trial_successes(&self) -> u32 {
        match self.trial_successes {
            0 => self.trial_calls,
            some => some,
        }
    }

    /// How far failures of the last moments exceed successes in a sudden outage.
    pub(super) fn sudden(&self) -> u32 {
        (self.minimum_calls() / 4).max(FEWEST_SUDDEN)
    }

    /// How many such failures a success outweighs: so many that their ratio is at least what the breaker opens at.
    #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
    pub(super) fn outweighed(&self) -> u32 {
        let by_ratio = self.ratio / (MILLION - self.ratio).max(1);
        self.sudden().max(by_ratio as u32)
    }

    /// Why so many calls open it, if they do.
    pub(super) fn opens_at(&self, calls: Calls) -> Option<Cause> {
        let reaches =
            |part: u32, ratio| u64::from(part) * MILLION >= u64::from(calls.ended) * ratio;
        if calls.ended < self.minimum_calls() {
            None
        } else if reaches(calls.failed, self.ratio) {
            Some(Cause::Ratio)
        } else {
            (self.slow_after > 0 && reaches(calls.slow, self.slow_ratio)).then_some(Cause::Slow)
        }
    }

    /// How many successes may go uncounted until the next look, after so many calls. In a window of time few beside
    /// those in it, so that neither the ratio nor their time is off by much, and beside those that decide, as the
    /// window may lose all others before the next look. In a window of calls those before the first look that can open
    /// it.
    pub(super) fn granted(&self, ended: u32) -> u32 {
        if self.slow_after > 0 || (self.count_window > 0 && ended < self.minimum_calls()) {
            0
        } else if self.count_window > 0 {
            MOST_GRANTED
        } else {
            let most = (self.minimum_calls() / 8).min(MOST_GRANTED);
            (ended / 8).min(most)
        }
    }
}
