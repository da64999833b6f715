//! What is reported about calls, and to whom.

pub(crate) mod chain;
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
pub(crate) mod record;
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod shown;
#[cfg(feature = "tracing")]
pub(crate) mod span;
