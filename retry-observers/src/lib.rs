#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

#[cfg(any(feature = "metrics", feature = "opentelemetry"))]
mod figures;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "opentelemetry")]
mod opentelemetry;
#[cfg(feature = "indicatif")]
mod progress;
mod stats;

#[cfg(any(feature = "metrics", feature = "opentelemetry"))]
pub use figures::Measurements;
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
#[cfg(feature = "opentelemetry")]
pub use opentelemetry::OpenTelemetry;
#[cfg(feature = "indicatif")]
pub use progress::Progress;
pub use stats::{Stats, Totals};
