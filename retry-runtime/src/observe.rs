//! What is reported about calls, and to whom.

pub(crate) mod attempt_end;
pub(crate) mod cause;
pub(crate) mod event;
pub(crate) mod ignored_timeout;
#[cfg(feature = "tracing")]
pub(crate) mod levels;
#[cfg(feature = "tracing")]
mod log;
pub(crate) mod observer;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod progress;
pub(crate) mod reason;
#[cfg(feature = "tracing")]
pub(crate) mod record;
#[cfg(feature = "std")]
pub(crate) mod recording;
/// Tests record by thread.
#[cfg(not(feature = "std"))]
pub(crate) mod recording {
    use core::fmt;

    use crate::observe::event::Event;

    pub(crate) fn saw(_: &Event<'_>) {}

    pub(crate) fn saw_line(_: &str, _: &dyn fmt::Display) {}
}
pub(crate) mod report;
#[cfg(feature = "tracing")]
pub(crate) mod span;
