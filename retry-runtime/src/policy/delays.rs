use core::iter::FusedIterator;
use core::time::Duration;

use crate::policy::schedule::Schedule;

/// The delays of a policy without jitter: what [`Policy::delays`](crate::Policy::delays) returns.
#[derive(Clone, Debug)]
pub struct Delays {
    schedule: Schedule,
    retry: u32,
}

impl Delays {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self { schedule, retry: 0 }
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.retry = self.schedule.next_retry(self.retry)?;
        Some(self.schedule.plain_delay(self.retry))
    }
}

impl FusedIterator for Delays {}
