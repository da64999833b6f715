use std::time::Duration;

use crate::{Backoff, Jitter, Section};

/// How many retries and how long before each: what a policy and its sections have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// `u32::MAX` is unlimited.
    pub(crate) max: u32,
    pub(crate) backoff: Backoff,
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) cap: Duration,
    pub(crate) jitter: Jitter,
}

impl Schedule {
    pub(crate) fn with(self, section: &Section) -> Self {
        Self {
            max: section.max.unwrap_or(self.max),
            backoff: section.backoff.unwrap_or(self.backoff),
            base: section.base.unwrap_or(self.base),
            factor: section.factor.unwrap_or(self.factor),
            cap: section.cap.unwrap_or(self.cap),
            jitter: section.jitter.unwrap_or(self.jitter),
        }
    }

    pub(crate) fn limit(&self) -> Option<u32> {
        (self.max != u32::MAX).then_some(self.max)
    }

    pub(crate) fn allows(&self, retry: u32) -> bool {
        self.limit().is_none_or(|max| retry <= max)
    }

    /// The delay of that retry (from 1), without jitter.
    pub(crate) fn plain_delay(&self, retry: u32) -> Duration {
        // A factor below 1 or not a number counts as 1.
        self.backoff
            .delay(retry, self.base, self.factor.max(1.0), self.cap)
    }

    /// The delay of that retry (from 1), where the one before was `previous`.
    pub(crate) fn delay(&self, retry: u32, previous: Duration) -> Duration {
        if self.backoff == Backoff::None {
            return Duration::ZERO;
        }
        self.jitter
            .draw(self.plain_delay(retry), self.base, self.cap, previous)
    }
}
