use core::fmt;
use core::time::Duration;

/// An attempt took longer than the key `timeout` allows, so it was dropped.
///
/// A function with a `timeout` needs an error type that implements `From<TimedOut>`. `std::io::Error`, `Box<dyn Error>`
/// and `anyhow::Error` do. For your own type, write the impl:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{TimedOut, retry};
///
/// #[derive(Debug)]
/// enum ModelError {
///     TimedOut(TimedOut),
/// }
///
/// impl From<TimedOut> for ModelError {
///     fn from(timed_out: TimedOut) -> Self {
///         Self::TimedOut(timed_out)
///     }
/// }
///
/// #[retry(timeout = "60s", on = |_| true)]
/// async fn complete() -> Result<String, ModelError> {
///     Ok(String::from("hello"))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimedOut {
    after: Duration,
}

impl TimedOut {
    /// Creates a timeout error, for example in a test.
    pub const fn new(after: Duration) -> Self {
        Self { after }
    }

    /// The time that the attempt was allowed to take.
    pub const fn after(self) -> Duration {
        self.after
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timed out after {:?}", rounded(self.after))
    }
}

/// The duration, rounded for display: to milliseconds, or to microseconds below 1 ms.
pub fn rounded(duration: Duration) -> Duration {
    let is_short = duration < Duration::from_millis(1);
    let unit = if is_short { 1_000 } else { 1_000_000 };
    let nanos = (duration.subsec_nanos() + unit / 2) / unit * unit;
    Duration::from_secs(duration.as_secs()).saturating_add(Duration::from_nanos(nanos.into()))
}
