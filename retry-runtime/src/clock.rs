//! The time by which deadlines and elapsed times are reckoned: tokio's where there is tokio, so that a
//! paused test clock rules here too.

use std::time::{Duration, Instant};

use crate::testing;

pub(crate) fn now() -> Instant {
    #[cfg(feature = "tokio")]
    let now = tokio::time::Instant::now().into_std();
    #[cfg(not(feature = "tokio"))]
    let now = Instant::now();
    // Sleeps that a test skipped count as slept.
    now.checked_add(testing::skipped()).unwrap_or(now)
}

/// The end of a span of time from now on; `None` where that is further than the clock reaches.
pub(crate) fn after(span: Duration) -> Option<Instant> {
    now().checked_add(span)
}
