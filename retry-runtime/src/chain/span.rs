//! The spans of a chain with the key `span`. Without the feature `tracing` there are none.

#![cfg_attr(
    not(feature = "tracing"),
    allow(
        clippy::unused_self,
        clippy::needless_pass_by_value,
        reason = "used with the feature"
    )
)]

use alloc::boxed::Box;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

#[cfg(feature = "tracing")]
use crate::observe::span;

/// The span of a call or an attempt, if it has one.
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: Option<Box<State>>,
}

#[cfg(feature = "tracing")]
enum State {
    /// A call's of that name, which begins when the call is first polled.
    Later(Box<str>),
    Begun(span::Span),
}

/// Within a span until it is dropped.
#[cfg(feature = "tracing")]
pub(crate) type Entered<'a> = Option<tracing::span::Entered<'a>>;
#[cfg(not(feature = "tracing"))]
pub(crate) type Entered<'a> = core::marker::PhantomData<&'a ()>;

impl Span {
    pub(crate) fn of_call<N: fmt::Display>(is_on: bool, name: impl FnOnce() -> N) -> Self {
        #[cfg(feature = "tracing")]
        return Self {
            span: is_on.then(|| Box::new(State::Begun(span::of_call(true, name())))),
        };
        #[cfg(not(feature = "tracing"))]
        {
            let _ = (is_on, name);
            Self {}
        }
    }

    /// Within the span that is entered now.
    #[inline]
    pub(crate) fn of_attempt(is_on: bool, number: impl FnOnce() -> u32) -> Self {
        #[cfg(feature = "tracing")]
        return Self {
            span: is_on.then(|| Box::new(State::Begun(span::of_attempt(true, number())))),
        };
        #[cfg(not(feature = "tracing"))]
        {
            let _ = (is_on, number);
            Self {}
        }
    }

    /// Begins when the call is first polled.
    fn later(name: Option<Box<str>>) -> Self {
        #[cfg(feature = "tracing")]
        return Self {
            span: name.map(|name| Box::new(State::Later(name))),
        };
        #[cfg(not(feature = "tracing"))]
        {
            let _ = name;
            Self {}
        }
    }

    #[inline]
    fn begin(&mut self) {
        #[cfg(feature = "tracing")]
        if let Some(State::Later(name)) = self.span.as_deref() {
            self.span = Some(Box::new(State::Begun(span::of_call(true, name))));
        }
    }

    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_> {
        #[cfg(feature = "tracing")]
        return match self.span.as_deref() {
            Some(State::Begun(span)) => Some(span::enter(span)),
            Some(State::Later(_)) | None => None,
        };
        #[cfg(not(feature = "tracing"))]
        Entered::default()
    }

    /// Runs an attempt in the span, which ends with it.
    #[inline]
    pub(crate) fn run<V>(self, attempt: impl FnOnce() -> V) -> V {
        let _entered = self.enter();
        attempt()
    }

    /// A future that begins in the span, and is polled in it.
    #[inline]
    pub(crate) fn within<F>(self, begin: impl FnOnce() -> F) -> Within<F> {
        let future = {
            let _entered = self.enter();
            Some(begin())
        };
        Within { future, span: self }
    }
}

pin_project! {
    /// A future that is polled in a span, and dropped in it.
    pub(crate) struct Within<F> {
        #[pin]
        future: Option<F>,
        span: Span,
    }

    impl<F> PinnedDrop for Within<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = this.span.enter();
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.span.begin();
        let _entered = this.span.enter();
        match this.future.as_pin_mut() {
            Some(future) => future.poll(context),
            None => Poll::Pending,
        }
    }
}

/// That call, in a span of that name if there is one.
#[inline]
pub(crate) fn around<F>(name: Option<Box<str>>, call: F) -> Within<F> {
    Span::later(name).within(|| call)
}
