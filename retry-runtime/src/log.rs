//! The log, by `tracing`: which records there are, and their levels. With the feature `tracing`.
//!
//! [Seeing what happens](crate::guide::observing) has their fields.

pub use crate::observe::levels::{Level, reset_levels, set_level};
#[cfg(feature = "std")]
pub use crate::observe::quiet::set_most;
pub use crate::observe::record::Record;
