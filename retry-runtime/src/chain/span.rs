use core::fmt;
use core::future::Future;

#[cfg(feature = "tracing")]
use tracing::Instrument;
#[cfg(feature = "tracing")]
use tracing::instrument::Instrumented;
#[cfg(feature = "tracing")]
use tracing::span::Entered;

use crate::key::Unnamed;
#[cfg(feature = "tracing")]
use crate::observe::span;

/// Which spans a chain opens, if its key `span` says so.
pub trait SpanKey: Copy + Send + Sync {
    /// The span of a call or an attempt.
    type Span: Clone + Send + Sync;
    /// In a span until it is dropped.
    type Entered<'a>;
    /// A future that is polled in a span.
    type Within<F: Future>: Future<Output = F::Output>;

    fn of_call<N: fmt::Display>(self, name: impl FnOnce() -> N) -> Self::Span;
    /// Within the span that is entered now.
    fn of_attempt(self, number: u32) -> Self::Span;
    fn enter(span: &Self::Span) -> Self::Entered<'_>;
    /// Makes an attempt that blocks, in its span.
    #[inline]
    fn attempt<T>(self, number: u32, attempt: impl FnOnce() -> T) -> T {
        let span = self.of_attempt(number);
        let _entered = Self::enter(&span);
        attempt()
    }
    fn within<F: Future>(span: Self::Span, begin: impl FnOnce() -> F) -> Self::Within<F>;
    /// A call whose span begins when it is first polled.
    fn around<V, F: Future>(
        self,
        call: V,
        name: impl FnOnce(&V) -> &str,
        begin: impl FnOnce(V) -> F,
    ) -> impl Future<Output = F::Output>;
}

impl SpanKey for Unnamed {
    type Span = ();
    type Entered<'a> = ();
    type Within<F: Future> = F;

    #[inline]
    fn of_call<N: fmt::Display>(self, _: impl FnOnce() -> N) {}

    #[inline]
    fn of_attempt(self, _: u32) {}

    #[inline]
    fn enter((): &()) {}

    #[inline]
    fn within<F: Future>((): (), begin: impl FnOnce() -> F) -> F {
        begin()
    }

    #[inline]
    fn around<V, F: Future>(
        self,
        call: V,
        _: impl FnOnce(&V) -> &str,
        begin: impl FnOnce(V) -> F,
    ) -> impl Future<Output = F::Output> {
        begin(call)
    }
}

#[cfg(feature = "tracing")]
impl SpanKey for Option<bool> {
    type Span = span::Span;
    type Entered<'a> = Entered<'a>;
    type Within<F: Future> = Instrumented<F>;

    fn of_call<N: fmt::Display>(self, name: impl FnOnce() -> N) -> span::Span {
        span::of_call(self.unwrap_or(false), name())
    }

    fn of_attempt(self, number: u32) -> span::Span {
        span::of_attempt(self.unwrap_or(false), number)
    }

    fn enter(span: &span::Span) -> Entered<'_> {
        span.enter()
    }

    fn within<F: Future>(span: span::Span, begin: impl FnOnce() -> F) -> Instrumented<F> {
        span.in_scope(begin).instrument(span)
    }

    async fn around<V, F: Future>(
        self,
        call: V,
        name: impl FnOnce(&V) -> &str,
        begin: impl FnOnce(V) -> F,
    ) -> F::Output {
        let span = self.of_call(|| name(&call));
        Self::within(span, || begin(call)).await
    }
}
