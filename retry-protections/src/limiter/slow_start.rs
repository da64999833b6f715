use std::time::Duration;

use retry_runtime::{Admission, Moment};

/// Nothing begins until the time that the server asked for is over. Then as many may run as ran before and were not
/// refused, half as many for each [`FORGOTTEN`] of pause, and one more for each success: otherwise all that waited
/// would come as one wave, and be throttled again. TCP does so after an idle time (RFC 2861): the longer it was, the
/// less is known of what the path bears.
#[derive(Debug)]
pub(super) struct SlowStart {
    since: Moment,
    /// When the pause ends.
    until: Moment,
    /// How many attempts ran when it began, and were not refused.
    before: f64,
    /// How many run that began after it.
    running: f64,
    /// How many of those succeeded.
    succeeded: f64,
}

/// The longest pause that a hint causes: the default of `max_hint`.
const LONGEST: Duration = Duration::from_secs(120);
/// The time after which half of what was known of a server is out of date.
const FORGOTTEN: Duration = Duration::from_secs(10);
/// The time after which twice as many may run, where attempts are too slow to tell.
const DOUBLED: Duration = Duration::from_secs(1);
/// Beyond that many at a time, it limits nobody.
const MANY: f64 = 1000.0;

impl SlowStart {
    /// A pause that begins now, where so many attempts ran at a time. `None` where it has no length.
    pub(super) fn new(now: Moment, hint: Duration, ran: f64) -> Option<Self> {
        Some(Self {
            since: now,
            until: end(now, hint)?,
            before: ran,
            running: 0.0,
            succeeded: 0.0,
        })
    }

    /// Has it end no earlier than so long after now.
    pub(super) fn extend(&mut self, now: Moment, hint: Duration) {
        if let Some(until) = end(now, hint) {
            self.until = self.until.max(until);
        }
    }

    /// For how long nothing begins, if paused.
    pub(super) fn paused_for(&self, now: Moment) -> Option<Duration> {
        let has_begun = now >= self.since;
        let left = self.until.since(now);
        (has_begun && !left.is_zero()).then_some(left)
    }

    /// How many may run, after the pause.
    fn most(&self, now: Moment) -> f64 {
        let halvings = self.until.since(self.since).div_duration_f64(FORGOTTEN);
        let doublings = now.since(self.until).div_duration_f64(DOUBLED);
        let first = (self.before * (-halvings).exp2()).round().max(1.0);
        let again = (first + self.succeeded).min(2.0 * self.before.max(1.0));
        again.max(first * doublings.exp2())
    }

    /// How many more may begin now.
    pub(super) fn room(&self, now: Moment) -> f64 {
        if self.paused_for(now).is_some() {
            return 0.0;
        }
        self.most(now) - self.running
    }

    /// Says after how long the next attempt asks again, where it has to wait. A gate that has a pace spreads them.
    pub(super) fn admits(&self, has_pace: bool, now: Moment) -> Result<(), Option<Duration>> {
        match self.paused_for(now) {
            Some(left) => Err(Some(left)),
            None if has_pace || self.room(now) >= 1.0 => Ok(()),
            None => Err(Some(Admission::SOON)),
        }
    }

    /// An attempt from before was refused, too: the server did not take so many.
    pub(super) fn refused(&mut self) {
        self.before -= 1.0;
    }

    /// Counts an attempt that began.
    pub(super) fn admitted(&mut self) {
        self.running += 1.0;
    }

    /// Counts the end of an attempt that was counted.
    pub(super) fn ended(&mut self) {
        self.running -= 1.0;
    }

    /// Counts a success. Whether it was the first.
    pub(super) fn succeeded(&mut self) -> bool {
        self.succeeded += 1.0;
        self.succeeded <= 1.0
    }

    /// Whether it limits nobody any more, whoever waits.
    pub(super) fn is_wide(&self, now: Moment) -> bool {
        self.paused_for(now).is_none() && self.most(now) > MANY
    }
}

fn end(now: Moment, hint: Duration) -> Option<Moment> {
    let pause = hint.min(LONGEST);
    (!pause.is_zero()).then(|| now.checked_add(pause))?
}
