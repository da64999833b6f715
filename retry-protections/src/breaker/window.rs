use std::time::Duration;

use retry_runtime::Moment;

use crate::clock::AHEAD;

/// A sliding time window of call outcomes, divided into ten slices. It moves by whole slices.
#[derive(Debug)]
pub(super) struct Window {
    slices: [Calls; SLICES],
    /// The number of the newest slice, counted from the clock's origin.
    newest: u64,
    all: Calls,
}

/// The number of calls that ended, and of those that failed or were slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    pub(super) ended: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Calls {
    pub(super) const NONE: Self = Self::successes(0);

    pub(super) const fn successes(ended: u32) -> Self {
        Self {
            ended,
            failed: 0,
            slow: 0,
        }
    }
}

const SLICES: usize = 10;

impl Window {
    pub(super) const fn new() -> Self {
        Self {
            slices: [Calls::NONE; SLICES],
            newest: 0,
            all: Calls::NONE,
        }
    }

    /// Moves the window, which is `length` long, so that it ends at `now`. Returns the calls in it.
    pub(super) fn slide(&mut self, now: Moment, length: Duration) -> Calls {
        let slice = (length / 10).as_nanos().max(1);
        let number = now.since_origin().as_nanos() / slice;
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        let behind = self.newest.saturating_sub(number);
        // If this thread's clock is slightly behind another's, the window doesn't move back. If the clock was set back,
        // the window starts empty: otherwise it would not move until the clock had caught up.
        let is_set_back = behind >= SLICES as u64 && u128::from(behind) * slice > AHEAD.as_nanos();
        if is_set_back || number.saturating_sub(self.newest) >= SLICES as u64 {
            *self = Self::new();
            self.newest = number;
        }
        while self.newest < number {
            self.newest += 1;
            let oldest = &mut self.slices[at(self.newest)];
            self.all.ended -= oldest.ended;
            self.all.failed -= oldest.failed;
            self.all.slow -= oldest.slow;
            *oldest = Calls::NONE;
        }
        self.all
    }

    /// Adds calls to the newest slice. Returns the counts of the whole window.
    pub(super) fn add(&mut self, more: Calls) -> Calls {
        // Once the count is at its maximum, above four billion calls, nothing is added, and the ratio stays the same.
        if self.all.ended.checked_add(more.ended).is_some() {
            for calls in [&mut self.slices[at(self.newest)], &mut self.all] {
                calls.ended += more.ended;
                calls.failed += more.failed;
                calls.slow += more.slow;
            }
        }
        self.all
    }
}

#[expect(clippy::cast_possible_truncation, reason = "below ten")]
fn at(number: u64) -> usize {
    (number % SLICES as u64) as usize
}
