use core::time::Duration;

use retry_vocabulary::delay;

use crate::policy::value::Worded;

/// The random part of each delay: the key `jitter`.
///
/// Below, `d` is the delay from the backoff, at least `floor` and at most `cap`. The random delay stays within `floor`
/// and `cap`, too: it is drawn from the part of the range within these limits, so delays don't pile up at a limit.
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
    /// A ratio `r` from 0 to 1: from `(1 - r) · d` to `(1 + r) · d`. A ratio outside 0–1 counts as 0 or 1.
    Ratio(f64),
    /// `"+0.3"`, a ratio `r` from 0 to 1 with a sign: from `d` to `(1 + r) · d`. A ratio outside 0–1 counts as 0 or 1.
    Added(f64),
}

impl Jitter {
    /// The jitter of this ratio, written as `text`: with a sign, it only lengthens delays.
    pub(crate) fn from_text(text: &str, ratio: f64) -> Self {
        if text.starts_with('+') {
            Self::Added(ratio)
        } else {
            Self::Ratio(ratio)
        }
    }

    /// The range from which the delay is drawn, both ends included. `plain` is the backoff's delay, and `previous` the
    /// previous retry's delay.
    pub(crate) fn range(
        self,
        plain: Duration,
        base: Duration,
        cap: Duration,
        previous: Duration,
    ) -> (Duration, Duration) {
        let taken = match (self, self.word()) {
            (Self::Ratio(ratio) | Self::Added(ratio), _) => ratio,
            (_, word) => word.map_or(0.0, delay::max_reduction),
        };
        let low = delay::shortest(plain, taken);
        let high = plain.saturating_add(plain.saturating_sub(low)).min(cap);
        match self {
            Self::Decorrelated => {
                let high = previous.max(base).saturating_mul(3).min(cap);
                (base.min(cap), high)
            }
            Self::Ratio(_) => (low, high),
            Self::Added(_) => (plain, high),
            Self::Full | Self::Equal | Self::None => (low, plain),
        }
    }
}

impl From<f64> for Jitter {
    fn from(ratio: f64) -> Self {
        Self::Ratio(ratio)
    }
}
