//! The observers that this crate brings, and what events tell them.

mod ends;
mod stats;
