//! The log record of an operator's change to shared protections. It is not part of a call, so it has neither the fields
//! nor the target of calls.

use core::fmt::Display;

/// Logs that an operator changed that to a value.
#[cfg(feature = "tracing")]
pub fn changed(what: &str, to: &dyn Display) {
    tracing::info!(target: "retry::protections", "{what}: {to}");
}

/// Without `tracing`, there is no log.
#[cfg(not(feature = "tracing"))]
pub fn changed(_: &str, _: &dyn Display) {}
