//! Circuit breakers.

mod admission;
mod by_hand;
pub(crate) mod circuit;
mod cusum;
mod last_calls;
mod rule;
mod setters;
mod waiters;
mod window;
