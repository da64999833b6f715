use core::time::Duration;

use crate::time::moment::Moment;

/// Nothing begins until the time that the server asked for is over; then one attempt in the first second, two in the
/// next, four, …. Otherwise all that waited would come as one wave, and be throttled again.
#[derive(Debug)]
pub(super) struct SlowStart {
    since: Moment,
    /// When the pause ends.
    until: Moment,
    /// No other begins before.
    next: Moment,
    has_answered: bool,
}

/// The longest pause that a hint causes: the default of `max_hint`.
const LONGEST: Duration = Duration::from_secs(120);
/// How often the rate doubles. Beyond that, it limits nobody.
const DOUBLINGS: u32 = 10;

impl SlowStart {
    /// A pause that begins now. `None` where it has no length.
    pub(super) fn new(now: Moment, hint: Duration) -> Option<Self> {
        let until = end(now, hint)?;
        Some(Self {
            since: now,
            until,
            next: until,
            has_answered: false,
        })
    }

    /// Has it end no earlier than so long after now.
    pub(super) fn extend(&mut self, now: Moment, hint: Duration) {
        if let Some(until) = end(now, hint) {
            self.until = self.until.max(until);
            self.next = self.until;
        }
    }

    /// For how long nothing begins, if paused.
    pub(super) fn paused_for(&self, now: Moment) -> Option<Duration> {
        self.left_until(self.until, now)
    }

    /// Says for how long the next attempt has to wait, where it has to.
    pub(super) fn admits(&self, now: Moment) -> Result<(), Option<Duration>> {
        match self.left_until(self.next, now) {
            Some(left) => Err(Some(left)),
            None => Ok(()),
        }
    }

    /// How many attempts may begin within some 20 ms: what is worth having room for.
    pub(super) fn soon(&self, now: Moment) -> usize {
        match self.doublings(now) {
            _ if self.admits(now).is_err() => 0,
            Some(doublings) => 1 + (1 << doublings) / 50,
            None => usize::MAX,
        }
    }

    /// Counts an attempt that began.
    pub(super) fn admitted(&mut self, now: Moment) {
        if let Some(doublings) = self.doublings(now) {
            let gap = Duration::from_secs(1) / (1 << doublings);
            self.next = now.checked_add(gap).unwrap_or(now);
        }
    }

    /// How often the rate has doubled, as long as it limits anybody.
    fn doublings(&self, now: Moment) -> Option<u32> {
        let seconds = now.since(self.until).as_secs();
        let doublings = u32::try_from(seconds).ok()?;
        (doublings < DOUBLINGS).then_some(doublings)
    }

    /// An attempt that was counted did not begin: the next may in its place.
    pub(super) fn given_back(&mut self, now: Moment) {
        self.next = self.next.min(now.max(self.until));
    }

    /// Counts an answer. Whether it was the first.
    pub(super) fn answered(&mut self) -> bool {
        !core::mem::replace(&mut self.has_answered, true)
    }

    /// Whether nobody has to wait for it any more.
    pub(super) fn is_over(&self, now: Moment) -> bool {
        let doubling = Duration::from_secs(1) * DOUBLINGS;
        // A clock that ran backwards must not keep it alive.
        now < self.since || now.since(self.until) >= doubling
    }

    fn left_until(&self, end: Moment, now: Moment) -> Option<Duration> {
        let has_begun = now >= self.since;
        let left = end.since(now);
        (has_begun && !left.is_zero()).then_some(left)
    }
}

fn end(now: Moment, hint: Duration) -> Option<Moment> {
    let pause = hint.min(LONGEST);
    (!pause.is_zero()).then(|| now.checked_add(pause))?
}
