//! The log, by `tracing`: which records there are, and their levels. With the feature `tracing`.
//!
//! [Seeing what happens](crate::guide::observing) has their fields.

#[cfg(feature = "std")]
pub use crate::observe::levels::set_most;
pub use crate::observe::levels::{reset_levels, set_level};
pub use crate::observe::record::{Level, Record};
