//! The log records, written with `tracing`, and their levels. Needs the feature `tracing`.
//!
//! [Seeing what happens](crate::guide::observing) lists their fields.

#[cfg(feature = "std")]
pub use crate::observe::levels::set_most;
pub use crate::observe::levels::{reset_levels, set_level};
pub use crate::observe::record::{Level, Record};
