//! The key `span`.

use core::cell::Cell;

use crate::observe::span as spans;
#[cfg(feature = "tracing")]
use crate::time::platform::Features;

pub use spans::{enter, of_attempt, within};

/// Implemented if a feature provides spans.
#[diagnostic::on_unimplemented(
    message = "`span` needs the feature `tracing` of `retry-runtime`",
    label = "no spans without it",
    note = "enable the feature in Cargo.toml"
)]
pub trait HasSpans {}

#[cfg(feature = "tracing")]
impl HasSpans for Features {}

pub fn of_call(_: impl HasSpans, is_on: bool, name: &str) -> spans::Span {
    spans::of_call(is_on, name)
}

/// A counter that numbers the attempts that run at once, starting with `first`.
pub fn begun(first: u32) -> Cell<u32> {
    Cell::new(first)
}

/// Returns the number of the next attempt.
pub fn next(begun: &Cell<u32>) -> u32 {
    begun.replace(begun.get().saturating_add(1))
}
