//! The record of what an operator changes about what calls share. No call makes it, so it has none of the fields of calls, nor
//! their target.

use core::fmt::Display;

#[cfg(feature = "tracing")]
pub(crate) fn changed(what: &str, to: &dyn Display) {
    tracing::info!(target: "retry::protections", "{what}: {to}");
}

/// Nobody reads a log.
#[cfg(not(feature = "tracing"))]
pub(crate) fn changed(_: &str, _: &dyn Display) {}
