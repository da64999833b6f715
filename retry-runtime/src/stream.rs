//! Streams that can be reopened: the building blocks of the key `stream`, one module for each mode.
//!
//! The loop is in an `async` block, which may borrow everything that the body borrows. The loop passes items through a
//! slot for one item, and waits until the consumer has taken each item, so it never runs ahead.

pub mod buffer;
pub mod first;
mod patience;
pub mod resume;

use alloc::sync::Arc;
use core::convert::identity;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::Mutex;

use futures_core::{FusedStream, Stream};

use crate::opaque_debug::opaque_debug;
use crate::sync::lock;

pub use patience::{Patience, Stopped, endless, in_time, patience};

/// An item of a stream.
#[diagnostic::on_unimplemented(
    message = "`stream` needs a stream of `Result`s, but this one yields `{Self}`",
    label = "not a `Result`",
    note = "a failure is an `Err`: return `impl Stream<Item = Result<_, _>>`"
)]
pub trait StreamItem {
    type Value;
    type Error;
}

impl<T, E> StreamItem for Result<T, E> {
    type Value = T;
    type Error = E;
}

/// The error from opening a stream, if it has the same type as the items' errors.
#[diagnostic::on_unimplemented(
    message = "opening this stream fails with `{Self}` and its items with `{E}`, but `stream` needs the same error type for both",
    label = "not the error type of the stream's items",
    note = "map one to the other, or both to a common error type"
)]
pub trait IsError<E>: Sized {
    const CONVERSIONS: ErrorTypes<Self, E>;
}

impl<E> IsError<E> for E {
    const CONVERSIONS: ErrorTypes<E, E> = (identity, identity);
}

/// The stream that the key `fallback` returns.
#[diagnostic::on_unimplemented(
    message = "this `fallback` returns `{Self}`, but the function returns a stream of `{I}`",
    label = "not a stream of these items",
    note = "the `fallback` of a stream opens another stream: return it as `Ok(stream)`, or `Err(gave_up.into_error())`"
)]
pub trait SameItems<I>: Stream<Item = I> {}

#[diagnostic::do_not_recommend]
impl<I, S: Stream<Item = I>> SameItems<I> for S {}

// The return type is opaque, so that an error about the bound appears only once.
pub fn of_same_items<I, S: SameItems<I>>(stream: S) -> impl Stream<Item = I> {
    stream
}

/// Two functions: one converts an opening error to an item's error, and the other converts it back.
pub type ErrorTypes<O, E> = (fn(O) -> E, fn(E) -> O);

/// The conversions between opening errors and item errors, which must have the same type.
pub fn error_types<I: StreamItem, O: IsError<I::Error>>() -> ErrorTypes<O, I::Error> {
    O::CONVERSIONS
}

/// The stream, or the failure to open it, with the error converted by `single`.
pub fn or_failed<S, O, E>(opened: Result<S, O>, single: fn(O) -> E) -> Result<S, Stopped<E>> {
    opened.map_err(|error| Stopped::failed(single(error)))
}

pub fn is_dropped<T, E>(ended: &Result<T, Stopped<E>>) -> bool {
    ended.as_ref().is_err_and(|stopped| stopped.timed_out)
}

/// Returns true if the attempt failed after it had yielded an item, and so had made progress.
pub fn has_yielded<T, E>(ended: &Result<T, Stopped<E>>) -> bool {
    ended.as_ref().is_err_and(|stopped| stopped.yielded)
}

// `I` is a parameter so that the error's type is known: the way to show an error depends on it.
pub fn outcome<I: StreamItem, T>(ended: Result<T, Stopped<I::Error>>) -> Result<T, I::Error> {
    ended.map_err(|stopped| stopped.error)
}

/// A slot that stores one item until it is taken. The loop has one end, and the stream has the other.
#[derive(Debug)]
pub struct Slot<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

/// The two ends of a slot.
pub type SlotEnds<T, E> = (Slot<T, E>, Slot<T, E>);

pub fn hand_over<I: StreamItem>() -> SlotEnds<I::Value, I::Error> {
    slot_ends()
}

fn slot_ends<T, E>() -> SlotEnds<T, E> {
    let slot = Arc::new(Mutex::new(None));
    (Slot(Arc::clone(&slot)), Slot(slot))
}

impl<T, E> Slot<T, E> {
    /// Completes once the item is taken. Needs no waker, because the consumer's next poll resumes the loop.
    async fn put(&self, item: Result<T, E>) {
        let mut item = Some(item);
        poll_fn(|_| match item.take() {
            Some(item) => {
                *lock(&self.0) = Some(item);
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }
}

/// The stream that an annotated function returns.
#[must_use = "streams do nothing unless polled"]
pub struct Retried<T, E, F> {
    slot: Slot<T, E>,
    /// The loop. An error in its output is the last item to yield. `None` once the loop has ended.
    run: Option<Pin<Box<F>>>,
}

impl<T, E, F: Future<Output = Result<(), E>>> Retried<T, E, F> {
    pub fn new(slot: Slot<T, E>, run: F) -> Self {
        Self {
            slot,
            run: Some(Box::pin(run)),
        }
    }

    /// Waits until an item is in the slot, or the stream has ended.
    fn poll_arrival(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_empty = |slot: &Slot<T, E>| lock(&slot.0).is_none();
        let Some(run) = self.run.as_mut().filter(|_| is_empty(&self.slot)) else {
            return Poll::Ready(());
        };
        if let Poll::Ready(outcome) = run.as_mut().poll(context) {
            self.run = None;
            *lock(&self.slot.0) = outcome.err().map(Err);
        } else if is_empty(&self.slot) {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl<T, E, F: Future<Output = Result<(), E>>> Stream for Retried<T, E, F> {
    type Item = Result<T, E>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        ready!(this.poll_arrival(context));
        Poll::Ready(lock(&this.slot.0).take())
    }
}

impl<T, E, F: Future<Output = Result<(), E>>> FusedStream for Retried<T, E, F> {
    fn is_terminated(&self) -> bool {
        self.run.is_none() && lock(&self.slot.0).is_none()
    }
}

opaque_debug!(Retried [T, E, F];);

/// Waits until the stream's first item has arrived or the stream has ended. Returns the stream.
pub async fn arrived<T, E, F: Future<Output = Result<(), E>>>(
    mut stream: Retried<T, E, F>,
) -> Retried<T, E, F> {
    poll_fn(|context| stream.poll_arrival(context)).await;
    stream
}

/// Like [`arrived`], but returns the first item's error if that item is an error.
pub async fn opened<T, E, F: Future<Output = Result<(), E>>>(
    stream: Retried<T, E, F>,
) -> Result<Retried<T, E, F>, E> {
    let stream = arrived(stream).await;
    let item = lock(&stream.slot.0).take();
    match item {
        Some(Err(error)) => Err(error),
        item => {
            *lock(&stream.slot.0) = item;
            Ok(stream)
        }
    }
}
