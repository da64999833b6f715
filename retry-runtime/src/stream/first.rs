//! `stream = "first"`: an attempt succeeds once its first item arrives. Later items are passed on.

use alloc::vec::Vec;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_core::Stream;

use super::{Patience, Retried, Slot, Stopped, StreamItem, slot_ends};
use crate::time::Timer;

/// A stream that has yielded its first item that counts, or has ended without one.
#[derive(Debug)]
pub struct Started<S, T, E, W> {
    /// The items so far. The last one is the item that counts, unless the stream ended without one.
    pub(super) items: Vec<T>,
    /// True if the stream must not be polled again.
    ended: bool,
    pub(super) stream: S,
    pub(super) patience: Patience<E, W>,
}

/// The stream of an attempt, or the one that the key `fallback` opened after the last attempt.
#[derive(Debug)]
pub enum Either<A, F> {
    Attempt(Pin<Box<A>>),
    Fallback(Pin<Box<F>>),
}

impl<A: Stream, F: Stream<Item = A::Item>> Stream for Either<A, F> {
    type Item = A::Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<A::Item>> {
        match self.get_mut() {
            Self::Attempt(stream) => stream.as_mut().poll_next(context),
            Self::Fallback(stream) => stream.as_mut().poll_next(context),
        }
    }
}

pub fn boxed<S>(stream: S) -> Pin<Box<S>> {
    Box::pin(stream)
}

/// The stream of an attempt, in a call with a fallback.
pub fn attempted<A, F>(stream: A) -> Either<A, F> {
    Either::Attempt(Box::pin(stream))
}

/// The fallback's stream, in place of an attempt's.
pub fn of_fallback<A, F>(stream: F) -> Either<A, F> {
    Either::Fallback(Box::pin(stream))
}

/// The default of the key `first`: every item counts.
pub fn any<T>(_: &T) -> bool {
    true
}

/// Returns the function of the key `first` unchanged. The bound lets the compiler infer the type of a closure's
/// argument.
pub fn counts<I: StreamItem, F: FnMut(&I::Value) -> bool>(first: F) -> F {
    first
}

/// Reads a stream until its first item that counts.
pub async fn attempt<S: Stream<Item = Result<T, E>> + Unpin, T, E, W: Timer>(
    mut stream: S,
    mut patience: Patience<E, W>,
    mut counts: impl FnMut(&T) -> bool,
) -> Result<Started<S, T, E, W>, Stopped<E>> {
    let mut items = Vec::new();
    let ended = loop {
        let Some(item) = patience.item(Pin::new(&mut stream)).await? else {
            break true;
        };
        let is_first = counts(&item);
        items.push(item);
        if is_first {
            break false;
        }
    };
    Ok(Started {
        items,
        ended,
        stream,
        patience,
    })
}

pub async fn finish<S: Stream<Item = Result<T, E>> + Unpin, T, E, W: Timer>(
    giver: Slot<T, E>,
    outcome: Result<Started<S, T, E, W>, E>,
) -> Result<(), E> {
    let mut started = outcome?;
    for item in started.items {
        giver.put(Ok(item)).await;
    }
    while !started.ended {
        let next = started.patience.next(Pin::new(&mut started.stream)).await;
        match next.map_err(|stopped| stopped.error)? {
            Some(item) => giver.put(item).await,
            None => break,
        }
    }
    Ok(())
}

/// Converts an attempt's outcome to the stream that an async function returns.
pub fn into_stream<S: Stream<Item = Result<T, E>> + Unpin, T, E, W: Timer>(
    outcome: Result<Started<S, T, E, W>, E>,
) -> Retried<T, E, impl Future<Output = Result<(), E>>> {
    let (giver, taker) = slot_ends();
    Retried::new(taker, finish(giver, outcome))
}
