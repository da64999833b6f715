//! Clocks, sleeping, and randomness.

use core::time::Duration;

pub(crate) mod blocking_timer;
pub(crate) mod cancel;
#[cfg(feature = "std")]
pub(crate) mod clock;
#[cfg(not(feature = "std"))]
#[path = "time/clock_of_timer.rs"]
pub(crate) mod clock;
pub(crate) mod enabled;
pub(crate) mod moment;
pub(crate) mod pause;
pub(crate) mod random;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod signal;
#[cfg(feature = "std")]
pub(crate) mod skip;
/// Skipping pauses in tests is per thread.
#[cfg(not(feature = "std"))]
pub(crate) mod skip {
    pub(crate) fn unskipped<T>(run: impl FnOnce() -> T) -> T {
        run()
    }
}
pub(crate) mod timer;
#[cfg(feature = "tokio")]
pub(crate) mod tokio_timer;

pub use blocking_timer::{BlockingTimer, DefaultTimer};
pub use cancel::{Cancel, CancelFn};
pub(crate) use moment::Clock;
pub use moment::Moment;
pub use timer::{Timer, TimerFn};
#[cfg(feature = "tokio")]
pub use tokio_timer::TokioTimer;

/// A time in nanoseconds, at most 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
