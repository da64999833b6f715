use core::time::Duration;

use retry_vocabulary::duration::LONGEST;

/// An optional duration in half the space. Anything above 584 years is stored as 584 years.
#[derive(Clone, Copy)]
pub(crate) struct Nanos(u64);

impl Nanos {
    pub(crate) const NOT_NAMED: Self = Self(u64::MAX);

    pub(crate) const fn new(duration: Option<Duration>) -> Self {
        let Some(duration) = duration else {
            return Self::NOT_NAMED;
        };
        let seconds = duration.as_secs().saturating_mul(1_000_000_000);
        let nanos = seconds.saturating_add(duration.subsec_nanos() as u64);
        if nanos == u64::MAX {
            return Self::new(Some(LONGEST));
        }
        Self(nanos)
    }

    pub(crate) const fn get(self) -> Option<Duration> {
        if self.0 == u64::MAX {
            return None;
        }
        Some(Duration::from_nanos(self.0))
    }
}
