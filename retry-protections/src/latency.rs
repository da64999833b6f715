use std::ops::Deref;
use std::time::Duration;

use retry_runtime::HedgeDelay;

use crate::keyed::Rest;
use crate::sync::{Mutex, lock};

/// How long the last attempts took, shared by calls: `hedge = LATENCY.quantile(0.95)` follows it.
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
/// Functions that name it feed it: each attempt that succeeds says how long it took. One that was dropped (another won,
/// it timed out, or its call was dropped) counts as one that would have taken at least that long, by the Kaplan–Meier
/// estimator. A failure says nothing.
///
/// Keeps the last 1024 attempts in 16 KiB.
#[derive(Debug)]
pub struct Latency {
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    /// The attempts that are kept: in no order once it is full, since the oldest is replaced.
    attempts: [Took; KEPT],
    kept: usize,
    oldest: usize,
    estimate: Option<Estimate>,
}

/// How long an attempt took, in nanoseconds, and whether it was dropped. So equal times are in the estimator's order:
/// what ended comes before what would have gone on.
type Took = (u64, bool);

/// What a quantile was when it was last worked out.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    quantile: f64,
    value: Duration,
    /// The attempts since.
    age: usize,
}

const KEPT: usize = 1024;
/// Fewer say too little.
const LEAST: usize = 100;
/// How many attempts a quantile lags behind: sorting takes thousands of instructions.
const STALE: usize = 64;

impl Latency {
    /// Knows of no attempt yet.
    pub const fn new() -> Self {
        Self {
            last: Mutex::new(Last {
                attempts: [(0, false); KEPT],
                kept: 0,
                oldest: 0,
                estimate: None,
            }),
        }
    }

    /// The time within which that fraction of the attempts ends, for the key `hedge`: above 0, up to 1. Other values
    /// count as the nearest in that range.
    #[must_use]
    pub const fn quantile(&self, quantile: f64) -> Quantile<&Self> {
        Quantile::new(self, quantile)
    }

    /// Records that an attempt of your own loop succeeded after that time.
    pub fn record(&self, took: Duration) {
        lock(&self.last).push((nanos(took), false));
    }

    /// Records that an attempt of your own loop was dropped after that time, and would have taken longer.
    pub fn record_dropped(&self, after: Duration) {
        lock(&self.last).push((nanos(after), true));
    }
}

/// While it knows too few attempts to say anything, or is unused.
impl Rest for Latency {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        is_unused || lock(&self.last).kept < LEAST
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

/// A quantile of a [`Latency`]: what the key `hedge` takes.
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
    /// Like [`Latency::quantile`], of a `Latency` that something else holds, such as one for each provider:
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

    /// The quantile now, at most 64 attempts late. `None`, so that nothing is hedged, until 100 attempts are known.
    ///
    /// If too many of the last attempts were dropped to know it, this is the longest time known, which is too short.
    pub fn get(&self) -> Option<Duration> {
        lock(&self.latency.last).quantile(self.quantile)
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

/// In nanoseconds, at most 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Last {
    fn push(&mut self, took: Took) {
        self.attempts[self.oldest] = took;
        self.oldest = (self.oldest + 1) % KEPT;
        self.kept = KEPT.min(self.kept + 1);
        if let Some(estimate) = &mut self.estimate {
            estimate.age += 1;
        }
    }

    fn quantile(&mut self, quantile: f64) -> Option<Duration> {
        if self.kept < LEAST {
            return None;
        }
        let fresh = self.estimate.filter(|estimate| {
            estimate.age < STALE && estimate.quantile.to_bits() == quantile.to_bits()
        });
        let estimate = fresh.unwrap_or_else(|| Estimate {
            quantile,
            value: estimate(self.attempts, self.kept, quantile),
            age: 0,
        });
        self.estimate = Some(estimate);
        Some(estimate.value)
    }
}

/// By E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations, J. Amer. Statist. Assoc. 53
/// (1958): at each time at which an attempt ended, the part that goes on shrinks by one of those that still ran.
#[cold]
#[expect(clippy::cast_precision_loss, reason = "at most 1024 attempts")]
fn estimate(mut attempts: [Took; KEPT], kept: usize, quantile: f64) -> Duration {
    /// Far below one in 1024, far above what rounding makes of a product.
    const ROUNDING: f64 = 1e-9;
    let attempts = &mut attempts[..kept];
    attempts.sort_unstable();
    let mut going_on = 1.0;
    let mut longest = Duration::ZERO;
    for (running, (took, is_dropped)) in (1..=kept).rev().zip(attempts) {
        longest = Duration::from_nanos(*took);
        if !*is_dropped {
            going_on *= 1.0 - 1.0 / running as f64;
            if going_on <= 1.0 - quantile + ROUNDING {
                break;
            }
        }
    }
    longest
}
