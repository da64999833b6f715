//! Reports about calls: events, the log, spans and recordings.

pub(crate) mod event;
pub(crate) mod fields;
#[cfg(feature = "tracing")]
pub(crate) mod levels;
#[cfg(feature = "tracing")]
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod reason;
pub(crate) mod record;
#[cfg(feature = "std")]
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod span;
pub(crate) mod stopwatch;
pub(crate) mod warnings;

pub use event::{AttemptEnd, Event, EventData};
pub(crate) use fields::Fields;
pub use observer::Observer;
pub use reason::{Cause, Reason};
pub(crate) use record::{Level, Record};
pub(crate) use report::{Observe, reborrow, report, report_line};
pub use stopwatch::Stopwatch;
