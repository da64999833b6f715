//! Ready-made observers for the key `observe`: counters to read in the program, and adapters to metrics and terminals,
//! each with the feature of its name.
//!
//! | observer | feature | |
//! |---|---|---|
//! | [`Stats`] | | counts calls, attempts, retries and reasons |
//! | `Metrics` | `metrics` | measures calls with the crate `metrics`: Prometheus, … |
//! | `OpenTelemetry` | `opentelemetry` | measures calls with OpenTelemetry |
//! | `Progress` | `indicatif` | shows a call's pauses and waits on a terminal, and the progress of a batch or a plan |
//!
//! To combine two observers, pass a tuple: `observe = (&STATS, Metrics::new())`.

#[cfg(any(feature = "metrics", feature = "opentelemetry"))]
mod figures;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "opentelemetry")]
mod opentelemetry;
#[cfg(feature = "indicatif")]
mod progress;
#[cfg(feature = "std")]
mod stats;

#[cfg(any(feature = "metrics", feature = "opentelemetry"))]
pub use self::figures::Measurements;
#[cfg(feature = "metrics")]
pub use self::metrics::Metrics;
#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry::OpenTelemetry;
#[cfg(feature = "indicatif")]
pub use self::progress::Progress;
#[cfg(feature = "std")]
pub use self::stats::{Stats, Totals};
