use core::time::Duration;

/// The delay after which an attempt is hedged, based on the durations of earlier attempts: a value of the key `hedge`.
///
/// `Latency` of the crate `retry-protections` provides one: `hedge = LATENCY.quantile(0.95)`. To write your own:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use std::time::Duration;
/// use retry_runtime::seam::HedgeDelay;
/// use retry_runtime::retry;
///
/// /// Twice the time of the last success, in milliseconds; 0 before the first.
/// struct TwiceTheLast(AtomicU64);
///
/// impl HedgeDelay for &TwiceTheLast {
///     fn delay(&self) -> Option<Duration> {
///         let last = self.0.load(Relaxed);
///         (last > 0).then(|| 2 * Duration::from_millis(last))
///     }
///
///     fn record(&self, took: Duration) {
///         self.0.store(took.as_millis().try_into().unwrap_or(u64::MAX), Relaxed);
///     }
/// }
///
/// static LAST: TwiceTheLast = TwiceTheLast(AtomicU64::new(0));
///
/// #[retry(max = 1, budget, hedge = &LAST)]
/// async fn load(key: &str) -> std::io::Result<String> {
///     Ok(format!("the value of {key}"))
/// }
/// ```
pub trait HedgeDelay {
    /// Returns the current delay. With `None`, nothing is hedged.
    fn delay(&self) -> Option<Duration>;

    /// Records that an attempt succeeded after this time.
    fn record(&self, took: Duration);

    /// Records that an attempt was dropped after this time, and would have taken longer. By default, records nothing.
    fn record_dropped(&self, after: Duration) {
        _ = after;
    }
}
