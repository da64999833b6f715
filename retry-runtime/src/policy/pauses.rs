use core::iter::FusedIterator;
use core::time::Duration;

use crate::policy::schedule::Schedule;
use crate::time::random;

/// The pauses of a policy, one for each retry. Returned by [`Policy::pauses`](crate::Policy::pauses) and, without
/// jitter, [`Policy::delays`](crate::Policy::delays).
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

    /// Starts again with the first pause, for example after a success.
    pub const fn reset(&mut self) {
        *self = Self::new(self.schedule);
    }
}

impl Iterator for Pauses {
    type Item = Duration;

    /// `None` after the policy's `max`.
    fn next(&mut self) -> Option<Duration> {
        self.retry = self.schedule.next_retry(self.retry)?;
        self.previous = random::between(self.schedule.range(self.retry, self.previous));
        Some(self.previous)
    }
}

impl FusedIterator for Pauses {}
