use core::iter::FusedIterator;
use core::time::Duration;

use crate::policy::schedule::Schedule;
use crate::time::random;

/// An iterator of a policy's pauses, one for each retry. Returned by [`Policy::pauses`](crate::Policy::pauses) and,
/// without jitter, [`Policy::delays`](crate::Policy::delays).
#[derive(Clone, Debug)]
pub struct Pauses {
    schedule: Schedule,
    retry: u32,
    previous: Duration,
}

impl Pauses {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            retry: 0,
            previous: Duration::ZERO,
        }
    }

    /// Restarts at the first pause, for example after a success.
    pub const fn reset(&mut self) {
        *self = Self::new(self.schedule);
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    /// The next pause, or `None` after `max` pauses.
    fn next(&mut self) -> Option<Duration> {
        self.retry = self.schedule.next_retry(self.retry)?;
        self.previous = random::between(self.schedule.range(self.retry, self.previous));
        Some(self.previous)
    }
}

impl FusedIterator for Pauses {}
