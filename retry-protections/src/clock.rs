//! The clock of breakers and limiters. `tests/interleavings` compiles the same sources with another clock.

use std::time::Duration;

pub(crate) use retry_runtime::macro_support::now;

/// The largest difference between the clocks of two threads, whose calls may have their own timers. A clock that is
/// further behind was set back.
pub(crate) const MAX_SKEW: Duration = Duration::from_secs(60);
