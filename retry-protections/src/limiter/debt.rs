use std::time::Duration;

use retry_runtime::Moment;

use crate::clock::AHEAD;

/// A token bucket, measured in time: each attempt adds the time that pays for it, and the debt shrinks as time passes.
/// Exact, and the same at every rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debt {
    owed: Duration,
    at: Moment,
    /// When the waiting attempt may begin.
    due: Option<Moment>,
    /// The delay of attempts that began later than they could have, less the part that was made up for. At most
    /// [`LATE`].
    late: Duration,
}

/// The largest delay that is made up for. Timers are late, tokio's by up to 2 ms. Without this, each wait would be that
/// much longer: at 100 attempts per second, a tenth of them would be lost.
const LATE: Duration = Duration::from_millis(2);

impl Debt {
    pub(super) const NONE: Self = Self {
        owed: Duration::ZERO,
        at: Moment::from_origin(Duration::ZERO),
        due: None,
        late: Duration::ZERO,
    };

    /// The debt at `now`. A clock that stands still or runs backwards neither pays for anything nor adds to the debt.
    pub(super) fn owed(&self, now: Moment) -> Duration {
        self.owed.saturating_sub(now.since(self.at))
    }

    /// Subtracts the time that has passed. Does nothing if the clock of another thread has already paid for that time.
    pub(super) fn pay(&mut self, now: Moment) {
        if self.ahead(now).is_zero() {
            self.owed = self.owed(now);
            self.at = now;
        }
    }

    /// The time by which this clock is behind the last payment. Zero if that is more than [`AHEAD`]: then the clock was
    /// set back.
    fn ahead(&self, now: Moment) -> Duration {
        let ahead = self.at.since(now);
        if ahead > AHEAD { Duration::ZERO } else { ahead }
    }

    /// The time until an attempt can begin that takes `time` to pay for, if at most `most` may be owed. If it takes
    /// longer than `most`, it can begin once nothing is owed.
    pub(super) fn wait(&self, time: Duration, most: Duration, now: Moment) -> Duration {
        let room = most.saturating_sub(time);
        let wait = self.owed(now).saturating_sub(room);
        if wait.is_zero() {
            return wait;
        }
        wait.saturating_add(self.ahead(now))
    }

    /// Records that an attempt has to wait for this long.
    pub(super) fn defer(&mut self, wait: Duration, now: Moment) {
        self.due = now.checked_add(wait);
    }

    /// Charges an attempt that begins. Returns true if it had to wait, or would have had to if no delay had been made
    /// up for.
    pub(super) fn charge(&mut self, time: Duration, now: Moment) -> bool {
        let due = self.due.take();
        let late = due.map_or(Duration::ZERO, |due| now.since(due));
        let late = self.late.saturating_add(late).min(LATE);
        let made_up = late.min(time);
        self.late = late.saturating_sub(made_up);
        self.add(time.saturating_sub(made_up));
        due.is_some() || !made_up.is_zero()
    }

    pub(super) fn add(&mut self, time: Duration) {
        self.owed = self.owed.saturating_add(time);
    }

    /// Subtracts `time` from the debt. Returns the part of `time` that exceeds the debt.
    pub(super) fn forgive(&mut self, time: Duration) -> Duration {
        let left = time.saturating_sub(self.owed);
        self.owed = self.owed.saturating_sub(time);
        left
    }

    pub(super) fn at_least(&mut self, owed: Duration) {
        self.owed = self.owed.max(owed);
    }
}
