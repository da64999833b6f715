//! The observers that this crate brings, and what events tell them.

mod kinds;
mod stats;
