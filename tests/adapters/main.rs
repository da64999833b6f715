//! What retry-runtime does for other crates, each behind its feature.

#[cfg(feature = "clap")]
mod clap;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "yaml")]
mod yaml;
