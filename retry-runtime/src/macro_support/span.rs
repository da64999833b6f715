//! The key `span`.

use std::cell::Cell;
#[cfg(not(feature = "tracing"))]
use std::future::Future;

#[cfg(feature = "tracing")]
use super::Features;
#[cfg(feature = "tracing")]
pub use crate::observe::span::{enter, of_attempt, within};

/// Implemented where a feature brings spans.
#[diagnostic::on_unimplemented(
    message = "the key `span` has no spans to open",
    label = "no spans",
    note = "enable the feature `tracing` of `retry-runtime`"
)]
pub trait HasSpans {
    type Span;
    fn of_call(is_on: bool, name: &str) -> Self::Span;
}

#[cfg(feature = "tracing")]
impl HasSpans for Features {
    type Span = tracing::Span;

    fn of_call(is_on: bool, name: &str) -> tracing::Span {
        crate::observe::span::of_call(is_on, name)
    }
}

pub fn of_call<F: HasSpans>(_: F, is_on: bool, name: &str) -> F::Span {
    F::of_call(is_on, name)
}

/// The number of the attempt that begins next, among some that run at once.
pub fn begun(first: u32) -> Cell<u32> {
    Cell::new(first)
}

/// That number.
pub fn next(begun: &Cell<u32>) -> u32 {
    begun.replace(begun.get().saturating_add(1))
}

/// Never called: without the feature nothing has spans.
#[cfg(not(feature = "tracing"))]
mod without {
    use super::*;

    pub fn of_attempt(_: bool, _: u32) {}

    pub fn enter<S>(_: &S) {}

    pub async fn within<F: Future, S>(future: F, _: &S) -> F::Output {
        future.await
    }
}

#[cfg(not(feature = "tracing"))]
pub use without::{enter, of_attempt, within};
