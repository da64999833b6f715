use std::collections::VecDeque;
use std::time::Duration;

use retry_runtime::seam::{AttemptOutcome, Moment};
use retry_runtime::{Cause, Kind};

use crate::breaker::settings::Settings;
use crate::clock::{self, MAX_SKEW};

/// The smallest number of failures that counts as a sudden outage. If half of the attempts fail at random, 25 failures
/// in a row are rare: see `docs/lab.md`.
const MIN_SUDDEN: u32 = 25;

/// The counts of attempts since the breaker was last closed.
#[derive(Debug)]
pub(super) struct Counts {
    window: Window,
    /// The sum of a CUSUM test for a sudden outage: each failure adds 1, each success subtracts a weight, and the sum
    /// never falls below zero. Random failures rarely raise it far, so it detects an outage earlier than a window's
    /// ratio does: most of the window lies before the outage.
    cusum: f64,
    /// The time at which `cusum` last rose from zero.
    since: Moment,
    /// The number of failures since the last success.
    consecutive: u32,
    /// The number of attempts in flight. `None` after the first success.
    in_flight: Option<u32>,
}

impl Settings {
    /// The CUSUM sum at which an outage counts as sudden.
    fn cusum_threshold(&self) -> u32 {
        (self.minimum_calls() / 4).max(MIN_SUDDEN)
    }

    /// The number of failures that one success cancels out in the CUSUM test: high enough that the sum keeps rising
    /// only if the ratio of failures is above `ratio`.
    fn failures_per_success(&self) -> f64 {
        let by_ratio = self.ratio / (1.0 - self.ratio).max(1e-6);
        by_ratio.max(self.cusum_threshold().into())
    }

    /// The cause for which these counts open the breaker, if they do.
    fn opening_cause(&self, calls: Calls) -> Option<Cause> {
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

impl Counts {
    pub(super) const fn new() -> Self {
        Self {
            window: Window::new(),
            cusum: 0.0,
            since: Moment::from_origin(Duration::ZERO),
            consecutive: 0,
            in_flight: Some(0),
        }
    }

    /// Counts an attempt that starts.
    pub(super) fn begin(&mut self) {
        self.in_flight = self.in_flight.map(|number| number.saturating_add(1));
    }

    /// Counts an attempt that ended. Returns the cause if the breaker opens. A success opens it if too many attempts
    /// were slow, or if it completes the minimum number of a count window. In a time window, a success never opens it
    /// because of earlier failures.
    pub(super) fn record(
        &mut self,
        settings: &Settings,
        outcome: AttemptOutcome,
        is_slow: bool,
    ) -> Option<Cause> {
        self.in_flight = self.in_flight.map(|number| number.saturating_sub(1));
        let failure = match outcome {
            AttemptOutcome::Success => None,
            AttemptOutcome::Failure { kind, .. } => Some(kind),
            _ => return None,
        };
        let now = clock::now();
        let calls = self.window.add(settings, now, failure.is_some(), is_slow);
        let by_ratio = settings.opening_cause(calls);
        let counts_calls = settings.count_window > 0;
        let Some(kind) = failure else {
            self.consecutive = 0;
            self.in_flight = None;
            self.cusum = (self.cusum - settings.failures_per_success()).max(0.0);
            return by_ratio.filter(|cause| counts_calls || *cause == Cause::Slow);
        };
        self.consecutive = self.consecutive.saturating_add(1);
        // Failures that left the window no longer count in the sum.
        if self.cusum <= 0.0 || calls.failed <= 1 {
            (self.cusum, self.since) = (0.0, now);
        }
        self.cusum = (self.cusum + 1.0).min(calls.failed.into());
        let is_sudden = self.cusum >= f64::from(settings.cusum_threshold())
            && now.since(self.since) >= settings.window / 15;
        // Before the first success, all outcomes may be failures because failures are faster: attempts in flight may
        // still succeed. This rule doesn't apply to timeouts, because no answer is slower than a timeout.
        let is_early = kind != Kind::Timeout && self.in_flight > Some(self.consecutive);
        let in_a_row = 1..=self.consecutive;
        by_ratio
            .or((is_sudden && !counts_calls).then_some(Cause::Ratio))
            .filter(|_| counts_calls || !is_early)
            .or(in_a_row
                .contains(&settings.consecutive)
                .then_some(Cause::Consecutive))
    }

    /// Returns true if neither failures nor slow calls are counted. A count window keeps its calls, however old they
    /// are, so it is only at rest if it is unused.
    pub(super) fn can_evict(&mut self, settings: &Settings, is_unused: bool) -> bool {
        if settings.count_window > 0 {
            return is_unused;
        }
        self.window.slide(settings, clock::now());
        self.window.all.failed == 0 && self.window.all.slow == 0
    }
}

/// The number of calls that ended, and of those that failed or were slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    pub(super) ended: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Calls {
    const NONE: Self = Self {
        ended: 0,
        failed: 0,
        slow: 0,
    };
}

/// The calls of the last `window`, in slices of a tenth of it, or the last `count_window` calls, each in its own slice.
#[derive(Debug)]
struct Window {
    /// The start of each slice, and the calls in it, the oldest first.
    slices: VecDeque<(Moment, Calls)>,
    all: Calls,
    /// The latest time passed to [`slide`](Self::slide).
    at: Moment,
}

impl Window {
    const fn new() -> Self {
        Self {
            slices: VecDeque::new(),
            all: Calls::NONE,
            at: Moment::from_origin(Duration::ZERO),
        }
    }

    /// Removes the calls that are too old or exceed the size of a count window.
    fn slide(&mut self, settings: &Settings, now: Moment) {
        let (length, most) = (settings.window, settings.count_window);
        // If this thread's clock is slightly behind another's, the window doesn't move back. If the clock was set back,
        // the window starts empty: otherwise it would not move until the clock had caught up.
        if most == 0 && self.at.since(now) > MAX_SKEW {
            *self = Self::new();
        }
        self.at = self.at.max(now);
        while let Some((since, oldest)) = self.slices.front() {
            let is_kept = match most {
                0 => self.at.since(*since) < length,
                most => self.all.ended < most,
            };
            if is_kept {
                break;
            }
            self.all.ended -= oldest.ended;
            self.all.failed -= oldest.failed;
            self.all.slow -= oldest.slow;
            self.slices.pop_front();
        }
    }

    /// Adds a call. Returns the counts of the whole window.
    fn add(&mut self, settings: &Settings, now: Moment, is_failed: bool, is_slow: bool) -> Calls {
        self.slide(settings, now);
        let newest = self.slices.back();
        let is_current = newest.is_some_and(|(since, _)| {
            settings.count_window == 0 && self.at.since(*since) < settings.window / 10
        });
        if !is_current {
            self.slices.push_back((self.at, Calls::NONE));
        }
        // Once the count is at its maximum, above four billion calls, nothing is added, and the ratio stays the same.
        let newest = self.slices.back_mut().filter(|_| self.all.ended < u32::MAX);
        if let Some((_, newest)) = newest {
            for calls in [newest, &mut self.all] {
                calls.ended += 1;
                calls.failed += u32::from(is_failed);
                calls.slow += u32::from(is_slow);
            }
        }
        self.all
    }
}
