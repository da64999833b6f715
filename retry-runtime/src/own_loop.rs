//! The parts of your own loop: [`Attempts`] decides, pauses and waits; [`Call`] only decides.
//!
//! The [guide](crate::guide::own_loop) shows a loop with each of them.

mod attempts;

pub use crate::call::{Call, Failure, NextAttempt, ProtectionRefs, Protections, Protects};
pub use crate::site::Site;
pub use attempts::Attempts;
