//! The parts of a loop of your own: [`Attempts`] drives it, and [`Call`] decides without waiting.
//!
//! The [guide](crate::guide::own_loop) shows loops with each.

mod attempts;

pub use crate::call::{Call, Failure, NextAttempt, ProtectionRefs, Protections, Protects};
pub use crate::site::Site;
pub use attempts::Attempts;
