use std::time::Duration;

use retry_runtime::seam::{Admission, Moment};

/// A pause requested by a server, and the slow start after it. No attempt starts during the pause. After the pause, the
/// number of attempts that may run at a time is the number before it, less the refused ones, halved for each
/// [`HALVING_TIME`] of pause. Each success allows one more. Otherwise all waiting attempts would start at once, and be
/// throttled again. TCP does the same after an idle time (RFC 2861): the longer it was, the less is known about the
/// capacity.
#[derive(Debug)]
pub(super) struct SlowStart {
    since: Moment,
    /// The end of the pause.
    until: Moment,
    /// The number of attempts that ran when the pause started, without those that were refused.
    pub(super) ran_before: f64,
    /// The number of running attempts that started after the pause.
    pub(super) running: f64,
    /// The number of attempts that started after the pause and succeeded.
    pub(super) succeeded: f64,
}

/// The longest pause that a hint causes: the default of `max_hint`.
const MAX_PAUSE: Duration = Duration::from_secs(120);
/// The length of pause that halves the number of attempts that may run after it.
const HALVING_TIME: Duration = Duration::from_secs(10);
/// The time after which twice as many attempts may run, if attempts are too slow to show that the server can handle
/// more.
const DOUBLING_TIME: Duration = Duration::from_secs(1);
/// The number of running attempts above which slow start no longer applies.
const UNLIMITED_ABOVE: f64 = 1000.0;

impl SlowStart {
    /// A pause that starts now, while `ran` attempts run at a time.
    pub(super) fn new(now: Moment, ran: f64) -> Self {
        Self {
            since: now,
            until: now,
            ran_before: ran,
            running: 0.0,
            succeeded: 0.0,
        }
    }

    /// Extends the pause so that it ends no earlier than `hint` from now.
    pub(super) fn extend(&mut self, now: Moment, hint: Duration) {
        let until = now.checked_add(hint.min(MAX_PAUSE));
        self.until = self.until.max(until.unwrap_or(now));
    }

    /// The time until the pause ends. `None` if it has ended.
    pub(super) fn paused_for(&self, now: Moment) -> Option<Duration> {
        let left = self.until.since(now);
        (now >= self.since && !left.is_zero()).then_some(left)
    }

    /// The number of attempts that may run at a time after the pause.
    fn limit(&self, now: Moment) -> f64 {
        let halvings = self.until.since(self.since).div_duration_f64(HALVING_TIME);
        let doublings = now.since(self.until).div_duration_f64(DOUBLING_TIME);
        let first = (self.ran_before * (-halvings).exp2()).round().max(1.0);
        let grown = (first + self.succeeded).min(2.0 * self.ran_before.max(1.0));
        grown.max(first * doublings.exp2())
    }

    /// The number of attempts that may start now.
    pub(super) fn room(&self, now: Moment) -> f64 {
        if self.paused_for(now).is_some() {
            return 0.0;
        }
        self.limit(now) - self.running
    }

    /// Returns `Ok` if an attempt may start now, otherwise the time until its next poll. If the gate spreads attempts,
    /// only the pause delays them.
    pub(super) fn admits(&self, has_pace: bool, now: Moment) -> Result<(), Option<Duration>> {
        match self.paused_for(now) {
            Some(left) => Err(Some(left)),
            None if has_pace || self.room(now) >= 1.0 => Ok(()),
            None => Err(Some(Admission::SOON)),
        }
    }

    /// Returns true if the pause has ended and slow start no longer limits attempts, however many wait.
    pub(super) fn is_unlimited(&self, now: Moment) -> bool {
        self.paused_for(now).is_none() && self.limit(now) > UNLIMITED_ABOVE
    }
}
