//! Without a system, the only clock is that of a call's timer.

use core::time::Duration;

use crate::time::Moment;

/// The timer's clock when a wait started, twice: on other targets, the first one is the system's clock.
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

    /// A single clock misses nothing.
    #[expect(clippy::unused_self, reason = "elsewhere it has something to do")]
    pub(crate) fn catch_up(self, _: Moment, _: Option<Duration>) {}
}
