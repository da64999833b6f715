use core::time::Duration;

use retry_vocabulary::duration::LONGEST;

/// An optional duration in whole milliseconds, of which a policy and a call have a spare word. Anything above 49 days is
/// stored as 49 days.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Millis(u32);

impl Millis {
    pub(crate) const NOT_NAMED: Self = Self(u32::MAX);

    /// Rounded up.
    pub(crate) const fn new(duration: Duration) -> Self {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        if millis >= u32::MAX as u128 {
            return Self(u32::MAX - 1);
        }
        #[expect(clippy::cast_possible_truncation, reason = "it was looked at")]
        Self(millis as u32)
    }

    pub(crate) const fn get(self) -> Option<u32> {
        match self {
            Self::NOT_NAMED => None,
            Self(millis) => Some(millis),
        }
    }
}

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
