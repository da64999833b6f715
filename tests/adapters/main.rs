//! What retry-runtime does for other crates, each behind its feature.

#[cfg(feature = "clap")]
mod clap;
#[cfg(feature = "indicatif")]
mod indicatif;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "miette")]
mod miette;
#[cfg(feature = "opentelemetry")]
mod opentelemetry;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "yaml")]
mod yaml;
