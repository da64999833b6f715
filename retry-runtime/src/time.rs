//! Clocks, sleeping, and randomness.

use core::time::Duration;

pub(crate) mod blocking_timer;
pub(crate) mod bounds;
pub(crate) mod cancel;
#[cfg(feature = "std")]
pub(crate) mod clock;
pub(crate) mod moment;
pub(crate) mod pause;
pub(crate) mod platform;
pub(crate) mod random;
#[cfg(feature = "std")]
pub(crate) mod skip;
pub(crate) mod timer;

pub use blocking_timer::BlockingTimer;
pub(crate) use cancel::{
    AbortedBy, CancelledBy, IntoCancelled, MayAbort, TICK, Uncancelled, abortable, is_cancelled,
};
pub use cancel::{Cancel, CancelFn};
pub(crate) use moment::Clock;
pub use moment::Moment;
pub(crate) use pause::{pause_or_cancelled, race, task_waker};
pub use platform::DefaultTimer;
pub(crate) use platform::yield_now;
pub(crate) use timer::sleep_out;
pub use timer::{Timer, TimerFn};

/// A time in nanoseconds, at most 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
