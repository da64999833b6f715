//! Types for policies from files, the environment and the command line.
//!
//! The [guide](crate::guide::configuration) shows each source.

#[cfg(feature = "clap")]
pub use crate::configure::clap::{PolicyArgs, PolicyFlags};
pub use crate::configure::policies::OwnPolicy;
pub use crate::policy::{BreakerSettings, LimiterSettings, Overrides, Pauses};
