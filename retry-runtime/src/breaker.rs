//! What calls share to leave a server alone that is down.

pub(crate) mod circuit;
pub(crate) mod circuit_breaker;
pub(crate) mod permit;
mod window;
