use core::iter::FusedIterator;
use core::time::Duration;

use crate::policy::schedule::{Schedule, limit};
use crate::time::random;

/// An iterator over a policy's pauses, one for each retry. Returned by [`Policy::pauses`](crate::Policy::pauses) and,
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

    /// The number of pauses since the start or the last [`reset`](Self::reset). After a pause, this is the number of
    /// the next retry.
    pub const fn number(&self) -> u32 {
        self.retry
    }

    /// The number of pauses left. `None` if unlimited.
    pub fn remaining(&self) -> Option<u32> {
        limit(self.schedule.max).map(|max| max - self.retry)
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
        self.previous = random::duration_in(self.schedule.range(self.retry, self.previous));
        Some(self.previous)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.remaining().map(usize::try_from).and_then(Result::ok);
        (left.unwrap_or(usize::MAX), left)
    }
}

impl FusedIterator for Pauses {}
