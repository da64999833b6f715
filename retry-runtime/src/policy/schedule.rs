use std::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::jitter::Jitter;
use crate::policy::section::Section;

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

/// The limit that a `max` stands for: none for `u32::MAX`.
pub(crate) fn limit(max: u32) -> Option<u32> {
    (max != u32::MAX).then_some(max)
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
        limit(self.max)
    }

    pub(crate) fn allows(&self, retry: u32) -> bool {
        retry <= self.max
    }

    /// The delay of that retry (from 1), without jitter.
    pub(crate) fn plain_delay(&self, retry: u32) -> Duration {
        // A factor below 1 or not a number counts as 1.
        self.backoff
            .delay(retry, self.base, self.factor.max(1.0), self.cap)
    }

    /// What the delay of that retry (from 1) is drawn from, both ends included, where the one before was `previous`.
    pub(crate) fn range(&self, retry: u32, previous: Duration) -> (Duration, Duration) {
        if self.backoff == Backoff::None {
            return (Duration::ZERO, Duration::ZERO);
        }
        let plain = self.plain_delay(retry);
        self.jitter.range(plain, self.base, self.cap, previous)
    }

    /// Whether delays are random.
    pub(crate) fn is_jittered(&self) -> bool {
        self.jitter != Jitter::None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            (any::<u64>(), 0..1_000_000_000_u32)
                .prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
            (0..100_000_u64).prop_map(Duration::from_millis),
            Just(Duration::ZERO),
            Just(Duration::MAX),
        ]
    }

    fn schedule() -> impl Strategy<Value = Schedule> {
        let backoff = prop_oneof![
            Just(Backoff::Exponential),
            Just(Backoff::Fixed),
            Just(Backoff::Linear),
            Just(Backoff::Fibonacci),
            Just(Backoff::None),
        ];
        let jitter = prop_oneof![
            Just(Jitter::Full),
            Just(Jitter::Equal),
            Just(Jitter::Decorrelated),
            Just(Jitter::None),
            any::<f64>().prop_map(Jitter::Ratio),
            (0.0..=1.0).prop_map(Jitter::Ratio),
        ];
        let factor = prop_oneof![any::<f64>(), 1.0..4.0];
        (
            any::<u32>(),
            backoff,
            duration(),
            factor,
            duration(),
            jitter,
        )
            .prop_map(|(max, backoff, base, factor, cap, jitter)| Schedule {
                max,
                backoff,
                base,
                factor,
                cap,
                jitter,
            })
    }

    proptest! {
        #[test]
        fn no_delay_is_above_the_cap(
            schedule in schedule(),
            retry in prop_oneof![any::<u32>(), 0..100_u32, u32::MAX - 2..=u32::MAX],
            previous in duration(),
        ) {
            let plain = schedule.plain_delay(retry);
            prop_assert!(plain <= schedule.cap);
            let (low, high) = schedule.range(retry, previous);
            prop_assert!(low <= high && high <= schedule.cap, "{low:?} to {high:?}");
            // No jitter reaches further than the delay doubled, and only decorrelated looks at the last one.
            if schedule.jitter != Jitter::Decorrelated {
                prop_assert!(high <= plain.saturating_mul(2), "{high:?} of {plain:?}");
            }
        }

        #[test]
        fn delays_do_not_shrink(schedule in schedule(), retry in any::<u32>()) {
            prop_assert!(schedule.plain_delay(retry) <= schedule.plain_delay(retry.saturating_add(1)));
        }
    }
}
