//! Circuit breakers.

mod admission;
pub(crate) mod circuit;
mod counts;
mod manual_control;
mod setters;
mod settings;
