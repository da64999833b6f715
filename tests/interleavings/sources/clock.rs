//! A clock that the test advances.

use std::cell::Cell;
use std::time::Duration;

use retry_runtime::seam::Moment;

/// The same value as in the sources.
pub(crate) const MAX_SKEW: Duration = Duration::from_secs(60);

thread_local! {
    /// All threads of a test run on one of the system's.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static IS_MISSING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn now() -> Moment {
    assert!(!IS_MISSING.get(), "the clock that this system lacks");
    Moment::from_origin(NOW.get())
}

/// Simulates a system without a clock.
pub(crate) fn remove() {
    IS_MISSING.set(true);
}

/// Each schedule starts at the same time.
pub(crate) fn set(since_origin: Duration) {
    NOW.set(since_origin);
}

pub(crate) fn advance(by: Duration) {
    NOW.set(NOW.get() + by);
}
