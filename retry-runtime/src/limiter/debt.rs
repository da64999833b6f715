use std::time::Duration;

use crate::time::moment::Moment;

/// What has begun and is not yet paid for by the time that has passed since: a token bucket, counted in the time that it
/// takes to fill up. Exact, and the same at every rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Debt {
    owed: Duration,
    at: Moment,
}

/// How late timers are, tokio's by up to two milliseconds: what comes faster is as often late, and must catch up.
const LATE: Duration = Duration::from_millis(2);

impl Debt {
    pub(super) const NONE: Self = Self {
        owed: Duration::ZERO,
        at: Moment::from_origin(Duration::ZERO),
    };

    /// The debt as of now. A clock that stands or runs backwards pays for nothing, and charges nothing.
    pub(super) fn owed(&self, now: Moment) -> Duration {
        self.owed.saturating_sub(now.since(self.at))
    }

    /// Goes on from now.
    pub(super) fn pay(&mut self, now: Moment) -> Duration {
        self.owed = self.owed(now);
        self.at = now;
        self.owed
    }

    /// How long until something can begin that takes that time to pay for. What takes longer than that much debt at most
    /// begins once nothing is owed.
    pub(super) fn wait(&self, time: Duration, most: Duration, now: Moment) -> Duration {
        let most = most.max(LATE);
        let room = most.saturating_sub(time);
        self.owed(now).saturating_sub(room)
    }

    /// From when it goes on.
    pub(super) fn at(&self) -> Moment {
        self.at
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
