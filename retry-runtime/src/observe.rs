//! What is reported about calls, and to whom.

pub(crate) mod attempt_end;
#[cfg(feature = "std")]
pub(crate) mod call_end;
pub(crate) mod cause;
#[cfg(feature = "std")]
pub(crate) mod changed;
pub(crate) mod event;
pub(crate) mod fields;
pub(crate) mod ignored_timeout;
#[cfg(feature = "tracing")]
pub(crate) mod levels;
#[cfg(feature = "tracing")]
pub(crate) mod log;
pub(crate) mod observer;
#[cfg(feature = "std")]
pub(crate) mod once_per_name;
#[cfg(any(feature = "batch", feature = "plan"))]
pub(crate) mod progress;
pub(crate) mod reason;
#[cfg_attr(not(feature = "tracing"), expect(unreachable_pub))]
pub(crate) mod record;
#[cfg(feature = "std")]
pub(crate) mod recorder;
#[cfg(feature = "std")]
pub(crate) mod recording;
/// Tests record by thread.
#[cfg(not(feature = "std"))]
pub(crate) mod recording {
    use crate::observe::event::Event;
    use crate::observe::fields::Fields;

    pub(crate) fn record(_: &Event<'_>) {}

    pub(crate) fn record_line(_: &str, _: &Fields<'_>) {}
}
pub(crate) mod report;
#[cfg(feature = "tracing")]
pub(crate) mod span;
pub(crate) mod stopwatch;
pub(crate) mod verdict_warning;

pub use attempt_end::AttemptEnd;
pub use cause::Cause;
pub use event::{Event, EventData};
pub use observer::Observer;
pub use reason::Reason;
pub use stopwatch::Stopwatch;
