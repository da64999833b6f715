//! The parts of a loop of your own: [`Attempts`] drives it, and [`Call`] decides without waiting.
//!
//! The [guide](crate::guide::own_loop) shows loops with each.

pub use crate::call::{
    Attempts, Call, Failure, NextAttempt, ProtectionRefs, Protections, Protects, Site,
};
