//! Spans around a call and around each of its attempts: target `retry`, level `INFO`, the same fields as the log.
//! Without the feature `tracing`, they do nothing.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;

#[cfg(feature = "tracing")]
use retry_classify::macro_support::shown;
#[cfg(feature = "tracing")]
pub(crate) use tracing::{Span, span::Entered};

/// Stands in for `tracing::Span` without the feature `tracing`.
#[cfg(not(feature = "tracing"))]
#[derive(Debug)]
pub struct Span;

#[cfg(not(feature = "tracing"))]
pub(crate) type Entered<'a> = &'a Span;

#[cfg(not(feature = "tracing"))]
impl Span {
    fn none() -> Self {
        Self
    }

    fn enter(&self) -> &Self {
        self
    }
}

/// The span of a call; none unless `is_on`.
pub(crate) fn of_call(is_on: bool, name: impl fmt::Display) -> Span {
    #[cfg(feature = "tracing")]
    if is_on {
        return tracing::info_span!(target: "retry", "call", call = %shown(name));
    }
    let _ = (is_on, name);
    Span::none()
}

/// The span of an attempt; none unless `is_on`. Its parent is the current span, which is the call's if the call's span
/// was entered.
pub fn of_attempt(is_on: bool, number: u32) -> Span {
    #[cfg(feature = "tracing")]
    if is_on {
        return tracing::info_span!(target: "retry", "attempt", attempt = number);
    }
    let _ = (is_on, number);
    Span::none()
}

/// Enters the span until the returned value is dropped.
pub fn enter(span: &Span) -> Entered<'_> {
    span.enter()
}

/// Polls the future in this span.
pub fn within<F: Future>(mut future: Pin<&mut F>, span: &Span) -> impl Future<Output = F::Output> {
    poll_fn(move |context| {
        let _entered = span.enter();
        future.as_mut().poll(context)
    })
}
