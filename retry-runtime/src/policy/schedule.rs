use core::time::Duration;

use retry_vocabulary::default;

use crate::policy::{Backoff, Jitter, Section};

/// The number of retries and the delays before them: the values in force for one kind of failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// The number of retries; `u32::MAX` is unlimited.
    pub(crate) max: u32,
    pub(crate) backoff: Backoff,
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) cap: Duration,
    pub(crate) floor: Duration,
    pub(crate) jitter: Jitter,
}

/// The limit for a value of `max`: `None` for `u32::MAX`.
pub fn limit(max: u32) -> Option<u32> {
    (max != u32::MAX).then_some(max)
}

impl Schedule {
    /// The values in force if only `named` and `floor` are set.
    pub(crate) const fn new(named: Section, floor: Option<Duration>) -> Self {
        let backoff = or_default(named.backoff, Backoff::Exponential);
        let jitter = or_default(named.jitter, Jitter::Full);
        // Decorrelated jitter ignores the list, so the normal cap applies.
        let cap = match (backoff, jitter) {
            (_, Jitter::Decorrelated) => default::CAP,
            (Backoff::List(_), _) => Duration::MAX,
            _ => default::CAP,
        };
        Self {
            max: or_default(named.max, default::MAX),
            backoff,
            base: or_default(named.base, default::BASE),
            factor: or_default(named.factor, 2.0),
            cap: or_default(named.cap, cap),
            floor: or_default(floor, default::FLOOR),
            jitter,
        }
    }

    /// Converts back to a section with all values, except those that have no effect with a list.
    pub(crate) const fn named(&self) -> Section {
        let section = Section::new()
            .max(self.max)
            .backoff(self.backoff)
            .cap(self.cap)
            .jitter(self.jitter);
        if self.backoff.is_list() {
            return section;
        }
        section.base(self.base).factor(self.factor)
    }

    pub(crate) fn allows(&self, retry: u32) -> bool {
        retry <= self.max
    }

    /// The number of the next retry after `retries`, if it is allowed.
    pub(crate) fn next_retry(&self, retries: u32) -> Option<u32> {
        let retry = retries.saturating_add(1);
        self.allows(retry).then_some(retry)
    }

    /// The delay before `retry` (from 1), without jitter.
    pub(crate) fn plain_delay(&self, retry: u32) -> Duration {
        if self.backoff == Backoff::None {
            return Duration::ZERO;
        }
        let delay = self.backoff.delay(retry, self.base, self.factor, self.cap);
        self.clamp(delay)
    }

    /// The range, both ends included, from which the delay before `retry` (from 1) is drawn. `previous` is the previous
    /// retry's delay.
    pub(crate) fn range(&self, retry: u32, previous: Duration) -> (Duration, Duration) {
        if self.backoff == Backoff::None {
            return (Duration::ZERO, Duration::ZERO);
        }
        self.range_around(self.plain_delay(retry), previous)
    }

    /// The range, both ends included, from which a delay is drawn if `plain`, the delay without jitter, is computed
    /// elsewhere.
    pub(crate) fn range_around(&self, plain: Duration, previous: Duration) -> (Duration, Duration) {
        let plain = self.clamp(plain);
        let (low, high) = self.jitter.range(plain, self.base, self.cap, previous);
        (self.clamp(low), self.clamp(high))
    }

    /// The delay, raised to the floor or lowered to the cap.
    fn clamp(&self, delay: Duration) -> Duration {
        delay.max(self.floor).min(self.cap)
    }

    /// Returns true if delays are random.
    pub(crate) fn is_jittered(&self) -> bool {
        self.jitter != Jitter::None
    }
}

/// The value that is set, or else the default.
pub(crate) const fn or_default<T: Copy>(named: Option<T>, default: T) -> T {
    match named {
        Some(value) => value,
        None => default,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Policy;
    use crate::policy::values::Values;

    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            (any::<u64>(), 0..1_000_000_000_u32)
                .prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
            (0..100_000_u64).prop_map(Duration::from_millis),
            Just(Duration::ZERO),
            Just(Duration::MAX),
        ]
    }

    fn shape() -> impl Strategy<Value = Backoff> {
        prop_oneof![
            Just(Backoff::Exponential),
            Just(Backoff::Fixed),
            Just(Backoff::Linear),
            Just(Backoff::Fibonacci),
            Just(Backoff::None),
        ]
    }

    fn list() -> impl Strategy<Value = Backoff> {
        vec(0..100_u64, 0..5).prop_map(|seconds| {
            let delays: Vec<_> = seconds.into_iter().map(Duration::from_secs).collect();
            Backoff::list(&delays)
        })
    }

    fn jitter(ratio: impl Strategy<Value = f64>) -> impl Strategy<Value = Jitter> {
        prop_oneof![
            Just(Jitter::Full),
            Just(Jitter::Equal),
            Just(Jitter::Decorrelated),
            Just(Jitter::None),
            (ratio, any::<bool>()).prop_map(|(ratio, is_added)| {
                if is_added {
                    Jitter::Added(ratio)
                } else {
                    Jitter::Ratio(ratio)
                }
            }),
        ]
    }

    fn retry() -> impl Strategy<Value = u32> {
        prop_oneof![any::<u32>(), 0..100_u32, u32::MAX - 2..=u32::MAX]
    }

    prop_compose! {
        fn schedule()(
            max in any::<u32>(),
            backoff in prop_oneof![shape(), list()],
            base in option::of(duration()),
            factor in prop_oneof![any::<f64>(), 1.0..4.0],
            cap in option::of(duration()),
            floor in option::of(duration()),
            jitter in jitter(prop_oneof![any::<f64>(), 0.0..=1.0]),
        ) -> Schedule {
            let mut policy = Policy::new().max(max).factor(factor).backoff(backoff).jitter(jitter);
            if let Some(base) = base {
                policy = policy.base(base);
            }
            if let Some(cap) = cap {
                policy = policy.cap(cap);
            }
            if let Some(floor) = floor {
                policy = policy.floor(floor);
            }
            policy.schedule(None, Values::Taken)
        }
    }

    proptest! {
        #[test]
        fn delays_are_between_floor_and_cap(
            schedule in schedule(),
            retry in retry(),
            previous in duration(),
        ) {
            let plain = schedule.plain_delay(retry);
            let (low, high) = schedule.range(retry, previous);
            prop_assert!(low <= high, "{low:?} to {high:?}");
            if schedule.backoff == Backoff::None {
                prop_assert_eq!((plain, high), (Duration::ZERO, Duration::ZERO));
                return Ok(());
            }
            let floor = schedule.floor.min(schedule.cap);
            for delay in [plain, low, high] {
                prop_assert!(floor <= delay && delay <= schedule.cap, "{delay:?}");
            }
            // Jitter never exceeds twice the delay, and only decorrelated jitter depends on the previous delay.
            if schedule.jitter != Jitter::Decorrelated {
                prop_assert!(low <= plain && plain <= high);
                prop_assert!(high <= plain.saturating_mul(2), "{high:?} of {plain:?}");
            }
        }

        #[test]
        fn delays_do_not_shrink(schedule in schedule(), retry in retry()) {
            if !schedule.backoff.is_list() {
                let next = schedule.plain_delay(retry.saturating_add(1));
                prop_assert!(schedule.plain_delay(retry) <= next);
            }
        }

        /// Without a floor and a list, delays follow the documented formulas.
        #[test]
        fn ranges_are_as_documented(
            backoff in shape(),
            base in 0..100_000_u64,
            cap in 0..100_000_u64,
            factor in 1.0..4.0,
            jitter in jitter((0..=100_u32).prop_map(|percent| f64::from(percent) / 100.0)),
            retry in 1..40_u32,
            previous in 0..100_000_u64,
        ) {
            let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
            let previous = Duration::from_millis(previous);
            let schedule = Policy::new()
                .backoff(backoff).base(base).factor(factor).cap(cap).jitter(jitter)
                .schedule(None, Values::Taken);
            let (plain, low, high) = documented(backoff, base, factor, cap, jitter, retry, previous);
            let near = |a: Duration, b: f64| (a.as_secs_f64() - b).abs() <= 2e-9 * b.max(1.0);
            prop_assert!(near(schedule.plain_delay(retry), plain));
            let range = schedule.range(retry, previous);
            prop_assert!(near(range.0, low) && near(range.1, high), "{range:?} is not {low} to {high}");
        }

        #[test]
        fn a_list_gives_its_delays(
            seconds in vec(0..1_000_u64, 1..5),
            cap in option::of(0..1_000_u64),
            retry in retry(),
        ) {
            let delays: Vec<_> = seconds.into_iter().map(Duration::from_secs).collect();
            let mut policy = Policy::new().backoff(Backoff::list(&delays));
            if let Some(cap) = cap {
                policy = policy.cap(Duration::from_secs(cap));
            }
            let place = retry.saturating_sub(1).min(u32::try_from(delays.len()).unwrap() - 1);
            let delay = delays[usize::try_from(place).unwrap()];
            let delay = cap.map_or(delay, |cap| delay.min(Duration::from_secs(cap)));
            let schedule = policy.schedule(None, Values::Taken);
            prop_assert_eq!(schedule.plain_delay(retry), delay);
            prop_assert_eq!(schedule.range(retry, Duration::MAX), (Duration::ZERO, delay));
        }
    }

    /// In seconds: the delay without jitter, and the range with it.
    fn documented(
        backoff: Backoff,
        base: Duration,
        factor: f64,
        cap: Duration,
        jitter: Jitter,
        retry: u32,
        previous: Duration,
    ) -> (f64, f64, f64) {
        let [base, cap, previous] = [base, cap, previous].map(|duration| duration.as_secs_f64());
        let growth = match backoff {
            Backoff::Exponential => (1..retry).fold(1.0, |growth, _| growth * factor),
            Backoff::Fixed => 1.0,
            Backoff::Linear => f64::from(retry),
            Backoff::Fibonacci => (1..retry).fold((1.0, 1.0), |(a, b), _| (b, a + b)).0,
            Backoff::None | Backoff::List(_) => return (0.0, 0.0, 0.0),
        };
        let plain = (base * growth).min(cap);
        let (low, high) = match jitter {
            Jitter::Full => (0.0, plain),
            Jitter::Equal => (plain / 2.0, plain),
            Jitter::Decorrelated => (base, previous.max(base) * 3.0),
            Jitter::None => (plain, plain),
            Jitter::Ratio(ratio) => (plain * (1.0 - ratio), plain * (1.0 + ratio)),
            Jitter::Added(ratio) => (plain, plain * (1.0 + ratio)),
        };
        (plain, low.min(cap), high.min(cap))
    }

    #[test]
    fn the_floor_limits_ranges_from_below() {
        let millis = Duration::from_millis;
        let policy = Policy::new()
            .base(millis(200))
            .cap(millis(1_000))
            .floor(millis(150));
        for (jitter, low, high) in [
            (Jitter::Full, 150, 200),
            (Jitter::Equal, 150, 200),
            (Jitter::None, 200, 200),
            (Jitter::Ratio(0.5), 150, 300),
            (Jitter::Decorrelated, 200, 600),
        ] {
            let schedule = policy.jitter(jitter).schedule(None, Values::Taken);
            assert_eq!(
                schedule.range(1, Duration::ZERO),
                (millis(low), millis(high)),
                "{jitter:?}"
            );
        }
        // If the floor is above the delay, jitter applies to the floor.
        let schedule = policy
            .floor(millis(400))
            .jitter(Jitter::Ratio(0.5))
            .schedule(None, Values::Taken);
        assert_eq!(
            schedule.range(1, Duration::ZERO),
            (millis(400), millis(600))
        );
        // If the floor is above the cap, the cap applies.
        let schedule = policy.floor(millis(2_000)).schedule(None, Values::Taken);
        assert_eq!(
            schedule.range(1, Duration::ZERO),
            (millis(1_000), millis(1_000))
        );
        // The floor doesn't add a delay to retries without one.
        let none = policy.backoff(Backoff::None).schedule(None, Values::Taken);
        assert_eq!(
            none.range(1, Duration::ZERO),
            (Duration::ZERO, Duration::ZERO)
        );
    }

    #[test]
    fn decorrelated_delays_are_capped_with_a_list_too() {
        let policy = Policy::new()
            .backoff(Backoff::list(&[Duration::from_secs(300)]))
            .jitter(Jitter::Decorrelated);
        let (_, high) = policy
            .schedule(None, Values::Taken)
            .range(9, Duration::from_secs(60));
        assert_eq!(high, Duration::from_secs(30));
    }
}
