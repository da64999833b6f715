use std::time::Duration;

use retry_runtime::Moment;

use crate::clock::AHEAD;

/// What has begun and is not yet paid for by the time passed since: a token bucket, counted in the time that it takes
/// to fill. Exact, and the same at every rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debt {
    owed: Duration,
    at: Moment,
    /// When what waits is due.
    due: Option<Moment>,
    /// The time by which what waited began too late: what follows makes up for it.
    late: Duration,
}

/// How late timers are; tokio's are by up to two milliseconds. Without it each wait would be that much longer: at a
/// hundred per second, every tenth attempt would be lost.
const LATE: Duration = Duration::from_millis(2);

impl Debt {
    pub(super) const NONE: Self = Self {
        owed: Duration::ZERO,
        at: Moment::from_origin(Duration::ZERO),
        due: None,
        late: Duration::ZERO,
    };

    /// The debt as of now. A clock that stands or runs backwards pays for nothing, and charges nothing.
    pub(super) fn owed(&self, now: Moment) -> Duration {
        self.owed.saturating_sub(now.since(self.at))
    }

    /// Goes on from now. No time pays twice, for each of two threads.
    pub(super) fn pay(&mut self, now: Moment) {
        if self.ahead(now).is_zero() {
            self.owed = self.owed(now);
            self.at = now;
        }
    }

    /// How long until the moment from which it goes on, by a clock that has not come to it.
    fn ahead(&self, now: Moment) -> Duration {
        let ahead = self.at.since(now);
        if ahead > AHEAD { Duration::ZERO } else { ahead }
    }

    /// How long until something can begin that takes that time to pay for, where that much may be owed at most. What
    /// takes longer than that begins once nothing is owed.
    pub(super) fn wait(&self, time: Duration, most: Duration, now: Moment) -> Duration {
        let room = most.saturating_sub(time);
        let wait = self.owed(now).saturating_sub(room);
        if wait.is_zero() {
            return wait;
        }
        wait.saturating_add(self.ahead(now))
    }

    /// Something waits for so long.
    pub(super) fn defer(&mut self, wait: Duration, now: Moment) {
        self.due = now.checked_add(wait);
    }

    /// Something begins. Returns whether it had to wait, or would have but for what began too late.
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

    /// Returns what is left of the time.
    pub(super) fn forgive(&mut self, time: Duration) -> Duration {
        let left = time.saturating_sub(self.owed);
        self.owed = self.owed.saturating_sub(time);
        left
    }

    pub(super) fn at_least(&mut self, owed: Duration) {
        self.owed = self.owed.max(owed);
    }
}
