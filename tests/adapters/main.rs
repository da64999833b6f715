//! Tests of retry-runtime's features for other crates.

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
