//! Spans around a call and around each of its attempts: target `retry`, level `INFO`, the same fields as the log.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;

pub(crate) use tracing::Span;
pub(crate) use tracing::span::Entered;

use retry_classify::macro_support::shown;

/// The span of a call.
pub(crate) fn of_call(is_on: bool, name: impl fmt::Display) -> Span {
    if !is_on {
        return Span::none();
    }
    tracing::info_span!(target: "retry", "call", call = %shown(name))
}

/// The span of an attempt. Its parent is the current span: within a call, the call's.
pub fn of_attempt(is_on: bool, number: u32) -> Span {
    if !is_on {
        return Span::none();
    }
    tracing::info_span!(target: "retry", "attempt", attempt = number)
}

/// Enters the span until the returned value is dropped.
pub fn enter(span: &Span) -> Entered<'_> {
    span.enter()
}

/// Polls the future in that span.
pub fn within<F: Future>(mut future: Pin<&mut F>, span: &Span) -> impl Future<Output = F::Output> {
    poll_fn(move |context| {
        let _entered = span.enter();
        future.as_mut().poll(context)
    })
}
