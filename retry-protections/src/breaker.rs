//! What calls share to leave a server alone that is down.

mod admission;
mod by_hand;
pub(crate) mod circuit;
mod cusum;
mod last_calls;
mod rule;
mod setters;
mod waiters;
mod window;
