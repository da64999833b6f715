//! The built-in observers and their events.

mod counts;
mod ends;
mod stats;
mod times;
