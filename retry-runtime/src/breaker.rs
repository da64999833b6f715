//! What calls share to leave a server alone that is down.

#[cfg(feature = "std")]
pub(crate) mod circuit;
pub(crate) mod circuit_breaker;
#[cfg(feature = "std")]
mod cusum;
pub(crate) mod permit;
#[cfg(feature = "std")]
mod window;
