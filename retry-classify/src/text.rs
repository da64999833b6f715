//! Reads faults and waits from the texts of servers, gateways and clients.

#[cfg(feature = "http")]
pub(crate) mod date;
#[cfg(any(feature = "llm", feature = "tonic_0_14"))]
#[cfg_attr(not(feature = "llm"), allow(dead_code, unreachable_pub))]
pub(crate) mod fault;
#[cfg(any(feature = "llm", feature = "tonic_0_14"))]
#[cfg_attr(not(feature = "llm"), allow(dead_code))]
pub(crate) mod rules;
#[cfg(any(feature = "llm", feature = "tonic_0_14"))]
pub(crate) mod table;
pub(crate) mod wait;
