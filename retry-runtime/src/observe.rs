//! Reports about calls: events, the log, spans and recordings.

pub(crate) mod event;
pub(crate) mod fields;
#[cfg(feature = "tracing")]
pub(crate) mod levels;
#[cfg(feature = "tracing")]
pub(crate) mod log;
pub(crate) mod observer;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod progress;
pub(crate) mod reason;
#[cfg_attr(not(feature = "tracing"), expect(unreachable_pub))]
pub(crate) mod record;
#[cfg(feature = "std")]
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod span;
pub(crate) mod stopwatch;
pub(crate) mod warnings;

pub use event::{AttemptEnd, Event, EventData};
pub use observer::Observer;
pub use reason::{Cause, Reason};
pub(crate) use report::{Observe, reborrow, report};
pub use stopwatch::Stopwatch;
