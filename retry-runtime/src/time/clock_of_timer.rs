//! Clocks without an operating system: the only clock is the one of a call's timer.

use core::time::Duration;

use crate::time::Moment;

/// The timer's clock when a wait started. Both fields have the same value; on other targets, `own` is the system's
/// clock.
#[derive(Clone, Copy)]
pub(crate) struct Clocks {
    pub(crate) own: Moment,
    pub(crate) other: Moment,
}

impl Clocks {
    pub(crate) fn read(other: impl FnOnce() -> Moment) -> Self {
        let now = other();
        Self {
            own: now,
            other: now,
        }
    }

    /// Does nothing, because a single clock misses no time.
    #[expect(clippy::unused_self, reason = "elsewhere it has something to do")]
    pub(crate) fn catch_up(self, _: Moment, _: Option<Duration>) {}
}
