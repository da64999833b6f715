//! Short names of durations.

use std::time::Duration;

/// Returns this number of seconds.
pub const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Returns this number of milliseconds.
pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
