use core::time::Duration;

/// How much of a delay is random: the key `jitter`. It is drawn anew for every delay.
///
/// `d` is the delay that the backoff gives, at least `floor` and at most `cap`. No delay is shorter than `floor` or
/// longer than `cap`. Delays don't pile up there either: if a range reaches past a limit, the delay is drawn from the
/// part inside.
///
/// `full`, `equal` and `decorrelated` come from [Exponential Backoff And Jitter][aws] (AWS, 2015).
///
/// [aws]: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// `"full"`, the default: from 0 to `d`. Spreads a fleet's retries best.
    #[default]
    Full,
    /// `"equal"`: from `d / 2` to `d`.
    Equal,
    /// `"decorrelated"`: from `base` to three times the previous delay. It replaces the shape, so `backoff` and
    /// `factor` have no effect.
    Decorrelated,
    /// `"none"`: exactly `d`.
    None,
    /// A ratio `r` from 0 to 1: from `(1 - r) · d` to `(1 + r) · d`. A ratio outside 0–1 counts as 0 or 1. It is kept
    /// to 9 decimals.
    Ratio(f64),
}

impl Jitter {
    /// What the delay is drawn from, both ends included, where the backoff gave `delay` and the delay before was
    /// `previous`.
    pub(crate) fn range(
        self,
        delay: Duration,
        base: Duration,
        cap: Duration,
        previous: Duration,
    ) -> (Duration, Duration) {
        match self {
            Self::Full => (Duration::ZERO, delay),
            Self::Equal => (delay / 2, delay),
            Self::Decorrelated => {
                let high = previous.max(base).saturating_mul(3).min(cap);
                (base.min(cap), high)
            }
            Self::None => (delay, delay),
            Self::Ratio(ratio) => {
                let spread = Duration::try_from_secs_f64(delay.as_secs_f64() * ratio)
                    .map_or(delay, |spread| spread.min(delay));
                let high = delay.saturating_add(spread).min(cap);
                (delay.saturating_sub(spread), high)
            }
        }
    }
}

impl From<f64> for Jitter {
    fn from(ratio: f64) -> Self {
        Self::Ratio(ratio)
    }
}
