//! The time, for what calls share. `tests/interleavings` compiles the same sources with another clock.

use std::time::Duration;

pub(crate) use retry_runtime::macro_support::now;

/// The most by which one thread's clock may be ahead of another's, where calls have timers of their
/// own. One that is further back was set back.
pub(crate) const AHEAD: Duration = Duration::from_secs(60);
