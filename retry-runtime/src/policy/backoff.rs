use alloc::boxed::Box;
use core::time::Duration;

/// The shape of the delays: the key `backoff`. The keys `base`, `factor`, `cap` and `floor` set its values.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::Policy;
///
/// let seconds = |policy: Policy| -> Vec<u64> {
///     policy.max(5).delays().map(|delay| delay.as_secs()).collect()
/// };
/// assert_eq!(seconds(Policy::new()), [1, 2, 4, 8, 16]);
/// assert_eq!(seconds(Policy::linear(Duration::from_secs(2))), [2, 4, 6, 8, 10]);
/// assert_eq!(seconds(Policy::fibonacci(Duration::from_secs(1))), [1, 1, 2, 3, 5]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backoff {
    /// `"exp"`, the default: `base`, then `factor` times longer for each retry.
    #[default]
    Exponential,
    /// `"fixed"`: always `base`.
    Fixed,
    /// `"linear"`: `base` times the number of the retry.
    Linear,
    /// `"fibonacci"`: `base` times 1, 1, 2, 3, 5, 8, …
    Fibonacci,
    /// `"none"`: retry without delay.
    None,
    /// `["1s", "5s", "30s"]`: these delays, then the last one repeatedly. An empty list equals `"none"`.
    ///
    /// A list has neither `base` nor `factor`, and setting a list removes both. A `base` or `factor` set after the list
    /// is ignored, and [`Policy::checked`](crate::Policy::checked) rejects the policy. Only an explicit `cap` clips the
    /// list, so by default, delays are as long as written. Jitter applies as to any other shape.
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Backoff, Jitter, Policy};
    ///
    /// const DELAYS: &[Duration] = &[Duration::from_secs(1), Duration::from_secs(300)];
    /// const POLICY: Policy = Policy::new()
    ///     .max(3)
    ///     .backoff(Backoff::List(&DELAYS))
    ///     .jitter(Jitter::None);
    /// assert_eq!(
    ///     POLICY.delays().collect::<Vec<_>>(),
    ///     [Duration::from_secs(1), Duration::from_secs(300), Duration::from_secs(300)],
    /// );
    /// assert_eq!("max=3, backoff=[1s, 5m], jitter=none".parse(), Ok(POLICY));
    /// ```
    ///
    /// Lists from text and configuration files stay in memory until the process ends. With the feature `std`, equal
    /// lists are stored once; without `std`, each read stores the list again. [`Backoff::list`] does the same with
    /// delays known only at run time.
    List(&'static &'static [Duration]),
}

impl Backoff {
    /// Creates a list of delays known only at run time. The list stays in memory until the process ends. With the
    /// feature `std`, equal lists are stored once; without `std`, each call stores the list again. In a constant, use
    /// [`Backoff::List`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Backoff, Policy};
    ///
    /// let delays: Vec<Duration> = [1, 5, 30].map(Duration::from_secs).to_vec();
    /// let policy = Policy::new().backoff(Backoff::list(&delays));
    /// assert!(policy.to_string().contains("backoff=[1s, 5s, 30s]"));
    /// ```
    pub fn list(delays: &[Duration]) -> Self {
        Self::List(keep(delays))
    }

    pub(crate) const fn is_list(self) -> bool {
        matches!(self, Self::List(_))
    }

    /// The delay of retry `number` (from 1), at most `cap`.
    pub(crate) fn delay(self, number: u32, base: Duration, factor: f64, cap: Duration) -> Duration {
        let number = number.max(1);
        let delay = match self {
            Self::Exponential => return exponential(number - 1, base, factor, cap),
            Self::Fixed => base,
            Self::Linear => base.saturating_mul(number),
            Self::Fibonacci => base.saturating_mul(fibonacci(number)),
            Self::None => Duration::ZERO,
            Self::List(delays) => {
                let place = usize::try_from(number - 1).unwrap_or(usize::MAX);
                let delay = delays.get(place).or(delays.last());
                delay.copied().unwrap_or_default()
            }
        };
        delay.min(cap)
    }
}

/// `base` times a power of `factor`, at most `cap`. The product may be infinite.
fn exponential(power: u32, base: Duration, factor: f64, cap: Duration) -> Duration {
    if base.is_zero() {
        return Duration::ZERO;
    }
    let growth = to_power(factor, power);
    Duration::try_from_secs_f64(base.as_secs_f64() * growth).map_or(cap, |delay| delay.min(cap))
}

/// `factor` raised to `power`. `f64::powi` would need `std`.
fn to_power(mut factor: f64, mut power: u32) -> f64 {
    let mut product = 1.0;
    loop {
        if power % 2 == 1 {
            product *= factor;
        }
        power /= 2;
        if power == 0 {
            return product;
        }
        factor *= factor;
    }
}

/// The Fibonacci number at this index (1, 1, 2, … from index 1), at most `u32::MAX`.
fn fibonacci(index: u32) -> u32 {
    let (mut current, mut next) = (0_u32, 1_u32);
    // The 48th number is the first that does not fit.
    for _ in 0..index.min(48) {
        (current, next) = (next, current.saturating_add(next));
    }
    current
}

// A policy is `Copy`, so its references must be valid forever.

/// Stores a list, unless an equal one is already stored.
#[cfg(feature = "std")]
fn keep(delays: &[Duration]) -> &'static &'static [Duration] {
    use std::sync::Mutex;

    use crate::sync::lock;

    static KEPT: Mutex<Vec<&'static &'static [Duration]>> = Mutex::new(Vec::new());

    let mut kept = lock(&KEPT);
    if let Some(known) = kept.iter().copied().find(|known| **known == delays) {
        return known;
    }
    let delays = leak(delays);
    kept.push(delays);
    delays
}

/// Without `std`, there is no lock to protect a registry, so each call stores its list.
#[cfg(not(feature = "std"))]
use leak as keep;

fn leak(delays: &[Duration]) -> &'static &'static [Duration] {
    let delays: &'static [Duration] = Box::leak(delays.into());
    Box::leak(Box::new(delays))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_kept_once() {
        let delays = [Duration::from_secs(1), Duration::from_secs(5)];
        assert!(core::ptr::eq(keep(&delays), keep(&delays)));
        assert!(!core::ptr::eq(keep(&delays), keep(&delays[..1])));
    }
}
