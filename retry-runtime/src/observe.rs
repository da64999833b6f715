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
#[cfg(feature = "tracing")]
pub(crate) mod span;
/// Without `tracing`, spans do nothing.
#[cfg(not(feature = "tracing"))]
pub(crate) mod span {
    use core::fmt;
    use core::future::Future;
    use core::marker::PhantomData;

    /// The span of a call or an attempt.
    #[derive(Debug)]
    pub struct Span;

    pub(crate) type Entered<'a> = PhantomData<&'a Span>;

    pub(crate) fn of_call(_: bool, _: impl fmt::Display) -> Span {
        Span
    }

    /// Returns an empty span.
    pub fn of_attempt(_: bool, _: u32) -> Span {
        Span
    }

    /// Does nothing.
    pub fn enter(_: &Span) -> Entered<'_> {
        PhantomData
    }

    /// Awaits the future.
    pub async fn within<F: Future>(future: F, _: &Span) -> F::Output {
        future.await
    }
}
pub(crate) mod stopwatch;
pub(crate) mod warnings;

pub use event::{AttemptEnd, Event, EventData};
pub use observer::Observer;
pub use reason::{Cause, Reason};
pub(crate) use report::{Observe, reborrow, report};
pub use stopwatch::Stopwatch;
