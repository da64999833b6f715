//! The observers that this crate brings, and what events tell them.

mod counts;
mod ends;
mod stats;
mod times;
