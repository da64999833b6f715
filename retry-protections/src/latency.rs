use std::collections::VecDeque;
use std::ops::Deref;
use std::time::Duration;

use retry_runtime::seam::HedgeDelay;

use crate::keyed::Evictable;
use crate::sync::{Mutex, lock};

/// The durations of recent attempts, shared by calls. `hedge = LATENCY.quantile(0.95)` starts another attempt after the
/// time within which 95 % of them end.
///
/// ```
/// use retry_protections::Latency;
/// use retry_runtime::retry;
/// use tokio::net::TcpStream;
///
/// static LATENCY: Latency = Latency::new();
///
/// #[retry(max = 1, budget, hedge = LATENCY.quantile(0.95))]
/// async fn connect(address: &str) -> std::io::Result<TcpStream> {
///     TcpStream::connect(address).await
/// }
/// ```
///
/// Functions that name a `Latency` in their key `hedge` record their attempts. A success is recorded with its duration.
/// A dropped attempt (another one won, it timed out, or its call was dropped) counts as one that would have taken
/// longer: the quantile comes from the Kaplan–Meier estimator. Failures are not recorded.
///
/// Keeps the last 1024 attempts in 16 KiB.
#[derive(Debug)]
pub struct Latency {
    recent: Mutex<Recent>,
}

#[derive(Debug)]
struct Recent {
    attempts: VecDeque<AttemptTime>,
    estimate: Option<Estimate>,
}

/// The time of an attempt in nanoseconds, and true if it was dropped. Tuples sort as the estimator needs them: if times
/// are equal, completed attempts come before dropped ones.
type AttemptTime = (u64, bool);

/// The last computed quantile.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    quantile: f64,
    value: Duration,
    /// The number of attempts recorded since this quantile was computed.
    age: usize,
}

const CAPACITY: usize = 1024;
/// The smallest number of attempts for which a quantile is computed.
const MIN_ATTEMPTS: usize = 100;
/// The number of attempts after which a quantile is computed again, because sorting takes thousands of instructions.
const MAX_AGE: usize = 64;

impl Latency {
    /// A latency without attempts.
    pub const fn new() -> Self {
        Self {
            recent: Mutex::new(Recent {
                attempts: VecDeque::new(),
                estimate: None,
            }),
        }
    }

    /// The time within which this fraction of the attempts ends, for the key `hedge`: above 0, at most 1. A value
    /// outside of that range counts as the nearest one in it.
    #[must_use]
    pub const fn quantile(&self, quantile: f64) -> Quantile<&Self> {
        Quantile::new(self, quantile)
    }

    /// Records an attempt of your own loop that succeeded after this time.
    pub fn record(&self, took: Duration) {
        lock(&self.recent).push((nanos(took), false));
    }

    /// Records an attempt of your own loop that was dropped after this time, and would have taken longer.
    pub fn record_dropped(&self, after: Duration) {
        lock(&self.recent).push((nanos(after), true));
    }
}

/// At rest if it has too few attempts for a quantile, or is unused.
impl Evictable for Latency {
    fn can_evict(&self, is_unused: bool) -> bool {
        is_unused || lock(&self.recent).attempts.len() < MIN_ATTEMPTS
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

/// A quantile of a [`Latency`], for the key `hedge`.
///
/// ```
/// use std::time::Duration;
/// use retry_protections::Latency;
///
/// let latency = Latency::new();
/// for millis in 1..=200 {
///     latency.record(Duration::from_millis(millis));
/// }
/// assert_eq!(latency.quantile(0.95).get(), Some(Duration::from_millis(190)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantile<L> {
    latency: L,
    quantile: f64,
}

impl<L: Deref<Target = Latency>> Quantile<L> {
    /// Like [`Latency::quantile`], for a `Latency` behind a pointer, such as one for each provider:
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use retry_protections::{Keyed, Latency, Quantile};
    /// use retry_runtime::retry;
    ///
    /// static LATENCIES: LazyLock<Keyed<String, Latency>> =
    ///     LazyLock::new(|| Keyed::new(100, Latency::new));
    ///
    /// #[retry(max = 1, budget, hedge = Quantile::new(LATENCIES.of(provider), 0.95))]
    /// async fn complete(provider: &str, prompt: &str) -> std::io::Result<String> {
    ///     Ok(format!("{provider} on {prompt}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// complete("eu", "a question").await?;
    /// assert_eq!(LATENCIES.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn new(latency: L, quantile: f64) -> Self {
        Self { latency, quantile }
    }

    /// The current quantile; up to 63 newer attempts may be missing from it. `None` until 100 attempts have been
    /// recorded: nothing is hedged until then.
    ///
    /// If too many of the recent attempts were dropped, the quantile is unknown. The result is then the longest
    /// recorded time, which is an underestimate.
    pub fn get(&self) -> Option<Duration> {
        lock(&self.latency.recent).quantile(self.quantile)
    }
}

impl<L: Deref<Target = Latency>> HedgeDelay for Quantile<L> {
    fn delay(&self) -> Option<Duration> {
        self.get()
    }

    fn record(&self, took: Duration) {
        self.latency.record(took);
    }

    fn record_dropped(&self, after: Duration) {
        self.latency.record_dropped(after);
    }
}

/// The time in nanoseconds, at most 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Recent {
    fn push(&mut self, took: AttemptTime) {
        if self.attempts.len() == CAPACITY {
            self.attempts.pop_front();
        }
        self.attempts.push_back(took);
        if let Some(estimate) = &mut self.estimate {
            estimate.age += 1;
        }
    }

    fn quantile(&mut self, quantile: f64) -> Option<Duration> {
        if self.attempts.len() < MIN_ATTEMPTS {
            return None;
        }
        let fresh = self.estimate.filter(|estimate| {
            estimate.age < MAX_AGE && estimate.quantile.to_bits() == quantile.to_bits()
        });
        let estimate = fresh.unwrap_or_else(|| Estimate {
            quantile,
            value: estimate(self.attempts.iter().copied().collect(), quantile),
            age: 0,
        });
        self.estimate = Some(estimate);
        Some(estimate.value)
    }
}

/// The estimator of E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations, J. Amer. Statist.
/// Assoc. 53 (1958): whenever an attempt ended while `n` were running, the estimated share of attempts that take longer
/// shrinks by 1/`n`.
#[cold]
#[expect(clippy::cast_precision_loss, reason = "at most 1024 attempts")]
fn estimate(mut attempts: Vec<AttemptTime>, quantile: f64) -> Duration {
    /// Far below 1/1024, and far above the rounding error of the product.
    const ROUNDING: f64 = 1e-9;
    attempts.sort_unstable();
    let mut survival = 1.0;
    let mut longest = Duration::ZERO;
    for (running, (took, is_dropped)) in (1..=attempts.len()).rev().zip(&attempts) {
        longest = Duration::from_nanos(*took);
        if !*is_dropped {
            survival *= 1.0 - 1.0 / running as f64;
            if survival <= 1.0 - quantile + ROUNDING {
                break;
            }
        }
    }
    longest
}
