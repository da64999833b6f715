use std::mem;
use std::time::Duration;

use retry_runtime::seam::Moment;

use crate::clock::MAX_SKEW;

/// A token bucket, measured in time: each attempt adds the time that pays for it to the debt. Exact at every rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    /// The time at which the whole debt is paid.
    paid: Moment,
    /// The latest time at which the debt was set.
    at: Moment,
    /// True if an attempt had to wait, and so may start late. Its delay is made up for, up to [`MAX_LATE`].
    pub(super) is_late: bool,
}

/// The largest delay that is made up for. Timers are late, tokio's by up to 2 ms. If delays were not made up for, each
/// wait would be longer: at 100 attempts per second, a tenth of the rate would be lost.
const MAX_LATE: Duration = Duration::from_millis(2);

impl TokenBucket {
    pub(super) const FULL: Self = Self {
        paid: Moment::from_origin(Duration::ZERO),
        at: Moment::from_origin(Duration::ZERO),
        is_late: false,
    };

    /// The debt at `now`. If the clock was set back, this is the debt at the latest known time. A clock that is behind
    /// by [`MAX_SKEW`] or less may be another thread's: the debt then includes the time by which that clock is behind.
    pub(super) fn debt(&self, now: Moment) -> Duration {
        let is_set_back = self.at.since(now) > MAX_SKEW;
        self.paid.since(if is_set_back { self.at } else { now })
    }

    /// Changes the debt at `now`.
    pub(super) fn set_debt(&mut self, owed: Duration, now: Moment) {
        self.at = if self.at.since(now) > MAX_SKEW {
            now
        } else {
            self.at.max(now)
        };
        let paid = now.since_origin().saturating_add(owed);
        self.paid = Moment::from_origin(paid);
    }

    /// The time until an attempt with a charge of `time` can start, if at most `most` may be owed. An attempt with a
    /// larger charge than `most` can start once nothing is owed. Zero if it can start now.
    pub(super) fn wait_time(&mut self, time: Duration, most: Duration, now: Moment) -> Duration {
        let owed = self.debt(now);
        if self.at.since(now) > MAX_SKEW {
            // Otherwise no time would pass until the clock had caught up.
            self.set_debt(owed, now);
        }
        owed.saturating_sub(most.saturating_sub(time))
    }

    /// Charges an attempt that starts. Returns true if it had to wait, or would have had to if no delay had been made
    /// up for.
    pub(super) fn charge(&mut self, time: Duration, now: Moment) -> bool {
        let owed = self.debt(now);
        let late = now.since(self.paid).min(MAX_LATE);
        self.set_debt(owed.saturating_add(time), now);
        let was_late = mem::take(&mut self.is_late);
        if was_late {
            self.reduce_debt(late);
            self.is_late = late > time;
        }
        was_late
    }

    /// Subtracts `time` from the debt.
    pub(super) fn reduce_debt(&mut self, time: Duration) {
        let paid = self.paid.since_origin().saturating_sub(time);
        self.paid = Moment::from_origin(paid);
    }
}
