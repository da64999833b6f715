//! Observers ready to name by the key `observe`: counts to read in the program, and adapters to what programs report
//! to, each with the feature of its name.
//!
//! | observer | feature | |
//! |---|---|---|
//! | [`Stats`] | | counts calls, attempts, retries and reasons |
//! | `Metrics` | `metrics` | measures calls with the crate `metrics`: Prometheus, … |
//! | `OpenTelemetry` | `opentelemetry` | measures calls with OpenTelemetry |
//! | `Progress` | `indicatif` | shows on a terminal what a call waits for, and how far a batch or a plan is |
//!
//! Two observe by `observe = (&STATS, Metrics::new())`.

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

#[cfg(feature = "metrics")]
pub use self::metrics::Metrics;
#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry::OpenTelemetry;
#[cfg(feature = "indicatif")]
pub use self::progress::Progress;
#[cfg(feature = "std")]
pub use self::stats::{Stats, Totals};
