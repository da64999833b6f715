//! What calls share to leave a server alone that is down.

#[cfg(feature = "std")]
mod admission;
#[cfg(feature = "std")]
mod by_hand;
#[cfg(feature = "std")]
pub(crate) mod circuit;
#[cfg(feature = "std")]
mod cusum;
#[cfg(feature = "std")]
mod last_calls;
#[cfg(feature = "std")]
mod rule;
#[cfg(feature = "std")]
mod setters;
#[cfg(feature = "std")]
mod waiters;
#[cfg(feature = "std")]
mod window;
