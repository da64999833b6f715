use std::time::Duration;

/// The shape of the delays: the key `backoff`. Its numbers are `base`, `factor` and `cap`.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::Policy;
///
/// let seconds = |policy: Policy| policy.max(5).delays().map(|d| d.as_secs()).collect::<Vec<_>>();
/// assert_eq!(seconds(Policy::exponential()), [1, 2, 4, 8, 16]);
/// assert_eq!(seconds(Policy::linear(Duration::from_secs(2))), [2, 4, 6, 8, 10]);
/// assert_eq!(seconds(Policy::fibonacci(Duration::from_secs(1))), [1, 1, 2, 3, 5]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backoff {
    /// `"exp"`, the default: `base`, then `factor` times more for each retry.
    #[default]
    Exponential,
    /// `"fixed"`: always `base`.
    Fixed,
    /// `"linear"`: `base` times the number of the retry.
    Linear,
    /// `"fibonacci"`: `base` times 1, 1, 2, 3, 5, 8, …
    Fibonacci,
    /// `"none"`: retry at once.
    None,
}

impl Backoff {
    pub(crate) const WORDS: &[(&str, Self)] = &[
        ("exp", Self::Exponential),
        ("fixed", Self::Fixed),
        ("linear", Self::Linear),
        ("fibonacci", Self::Fibonacci),
        ("none", Self::None),
    ];

    /// The delay of retry `number` (from 1), at most `cap`.
    pub(crate) fn delay(self, number: u32, base: Duration, factor: f64, cap: Duration) -> Duration {
        if base.is_zero() {
            return Duration::ZERO;
        }
        let earlier = number.saturating_sub(1);
        let delay = match self {
            Self::Exponential => {
                let growth = factor.powi(i32::try_from(earlier).unwrap_or(i32::MAX));
                return scale(base, growth, cap);
            }
            Self::Fixed => base,
            Self::Linear => base.saturating_mul(number.max(1)),
            Self::Fibonacci => base.saturating_mul(fibonacci(number.max(1))),
            Self::None => Duration::ZERO,
        };
        delay.min(cap)
    }
}

/// `base` times `growth`, at most `cap`, where the product may be infinite.
fn scale(base: Duration, growth: f64, cap: Duration) -> Duration {
    Duration::try_from_secs_f64(base.as_secs_f64() * growth).map_or(cap, |delay| delay.min(cap))
}

/// The Fibonacci number of that index, `u32::MAX` where it is larger.
fn fibonacci(index: u32) -> u32 {
    let (mut current, mut next) = (0_u32, 1_u32);
    // The 48th is the first that does not fit.
    for _ in 0..index.min(48) {
        (current, next) = (next, current.saturating_add(next));
    }
    current
}
