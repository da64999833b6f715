//! The spans of a chain with the key `span`, which needs the feature `tracing`.

use alloc::boxed::Box;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::observe::span;

/// The span of a call or an attempt, if it has one.
// Boxed, so that the future of a chain without the key needs no space for it.
pub struct Span(Option<Box<State>>);

enum State {
    /// The name of a call's span, which starts when the call is first polled.
    NotBegun(Box<str>),
    Begun(span::Span),
}

impl Span {
    /// The span of a call with this name.
    pub fn of_call<N: fmt::Display>(is_on: bool, name: impl FnOnce() -> N) -> Self {
        Self(is_on.then(|| Box::new(State::Begun(span::of_call(true, name())))))
    }

    /// A span within the current one.
    #[inline]
    pub fn of_attempt(is_on: bool, number: impl FnOnce() -> u32) -> Self {
        Self(is_on.then(|| Box::new(State::Begun(span::of_attempt(true, number())))))
    }

    /// Enters the span, if there is one, until the returned value is dropped.
    #[inline]
    pub fn enter(&self) -> Option<span::Entered<'_>> {
        match self.0.as_deref() {
            Some(State::Begun(span)) => Some(span::enter(span)),
            Some(State::NotBegun(_)) | None => None,
        }
    }

    /// Runs an attempt in the span, and then closes the span.
    #[inline]
    pub fn run<V>(self, attempt: impl FnOnce() -> V) -> V {
        let _entered = self.enter();
        attempt()
    }

    /// A future that is created and polled in the span.
    #[inline]
    pub fn within<F>(self, begin: impl FnOnce() -> F) -> InSpan<F> {
        let future = {
            let _entered = self.enter();
            Some(begin())
        };
        InSpan { future, span: self }
    }
}

pin_project! {
    /// A future that is polled and dropped in a span.
    pub struct InSpan<F> {
        #[pin]
        future: Option<F>,
        span: Span,
    }

    impl<F> PinnedDrop for InSpan<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = this.span.enter();
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some(State::NotBegun(name)) = this.span.0.as_deref() {
            *this.span = Span::of_call(true, || name.clone());
        }
        let _entered = this.span.enter();
        match this.future.as_pin_mut() {
            Some(future) => future.poll(context),
            None => Poll::Pending,
        }
    }
}

/// The call, in a span if it has a name.
#[inline]
pub fn in_span<F>(name: Option<Box<str>>, call: F) -> InSpan<F> {
    Span(name.map(|name| Box::new(State::NotBegun(name)))).within(|| call)
}
