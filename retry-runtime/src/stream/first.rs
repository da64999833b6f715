//! `stream = "first"`: an attempt succeeds once its first item arrives, and what follows is passed on.

use alloc::vec::{self, Vec};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_core::Stream;

use super::{Giver, Patience, Retried, SizeHint, Stopped, StreamItem, ends, one_more};
use crate::time::timer::Timer;

/// A stream whose first item that counts has arrived, or that ended without one.
#[derive(Debug)]
pub struct Started<S, T, E, W> {
    /// What came before it.
    held: vec::IntoIter<T>,
    pub(super) first: Option<T>,
    /// Whether the stream must not be polled again.
    ended: bool,
    pub(super) stream: S,
    pub(super) patience: Patience<E, W>,
}

/// The stream of an attempt, or the one that the key `fallback` opened after the last.
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

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Attempt(stream) => stream.size_hint(),
            Self::Fallback(stream) => stream.size_hint(),
        }
    }
}

impl<S, T, E, W> Started<S, T, E, W>
where
    S: Stream<Item = Result<T, E>> + Unpin,
    W: Timer,
{
    /// What is not yet handed on.
    fn rest(&self) -> SizeHint {
        let (least, most) = if self.ended {
            (0, Some(0))
        } else {
            self.patience.size_hint(self.stream.size_hint())
        };
        let here = self.held.len() + usize::from(self.first.is_some());
        (
            least.saturating_add(here),
            most.and_then(|most| most.checked_add(here)),
        )
    }
}

/// Whatever comes first counts.
pub fn any<T>(_: &T) -> bool {
    true
}

/// A function of the key `first`: the type of a closure's argument is inferred from this bound.
pub fn counts<I: StreamItem, F: FnMut(&I::Value) -> bool>(first: F) -> F {
    first
}

pub async fn attempt<S, T, E, W>(
    stream: S,
    patience: Patience<E, W>,
    counts: impl FnMut(&T) -> bool,
) -> Result<Started<Pin<Box<S>>, T, E, W>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    start(Box::pin(stream), patience, counts).await
}

/// An attempt of a call that has a fallback.
pub async fn attempt_or_fallback<S, F, T, E, W>(
    stream: S,
    patience: Patience<E, W>,
    counts: impl FnMut(&T) -> bool,
) -> Result<Started<Either<S, F>, T, E, W>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>>,
    F: Stream<Item = Result<T, E>>,
    W: Timer,
{
    start(Either::Attempt(Box::pin(stream)), patience, counts).await
}

/// What the fallback returned, in place of an attempt.
pub async fn fallen<S, F, T, E, W>(
    stream: F,
    patience: Patience<E, W>,
) -> Result<Started<Either<S, F>, T, E, W>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>>,
    F: Stream<Item = Result<T, E>>,
    W: Timer,
{
    start(Either::Fallback(Box::pin(stream)), patience, any).await
}

async fn start<S, T, E, W>(
    mut stream: S,
    mut patience: Patience<E, W>,
    mut counts: impl FnMut(&T) -> bool,
) -> Result<Started<S, T, E, W>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>> + Unpin,
    W: Timer,
{
    let mut held = Vec::new();
    let first = loop {
        match patience.item(Pin::new(&mut stream)).await? {
            Some(item) if !counts(&item) => held.push(item),
            first => break first,
        }
    };
    Ok(Started {
        held: held.into_iter(),
        ended: first.is_none(),
        first,
        stream,
        patience,
    })
}

pub async fn finish<S, T, E, W>(
    giver: Giver<T, E>,
    outcome: Result<Started<S, T, E, W>, E>,
) -> Option<Result<T, E>>
where
    S: Stream<Item = Result<T, E>> + Unpin,
    W: Timer,
{
    let mut started = match outcome {
        Ok(started) => started,
        Err(error) => return Some(Err(error)),
    };
    while let Some(item) = started.held.next().or_else(|| started.first.take()) {
        giver.give(Ok(item), started.rest()).await;
    }
    while !started.ended {
        match started.patience.next(Pin::new(&mut started.stream)).await {
            Ok(Some(item)) => giver.give(item, started.rest()).await,
            Ok(None) => break,
            Err(stopped) => return Some(Err(stopped.error)),
        }
    }
    None
}

/// The stream of an attempt that an async function awaited.
pub fn into_stream<S, T, E, W>(
    outcome: Result<Started<S, T, E, W>, E>,
) -> Retried<T, E, impl Future<Output = Option<Result<T, E>>>>
where
    S: Stream<Item = Result<T, E>> + Unpin,
    W: Timer,
{
    let (giver, taker) = ends();
    giver.expect(match &outcome {
        Ok(started) => started.rest(),
        Err(_) => one_more((0, Some(0)), true),
    });
    Retried::new(taker, finish(giver, outcome))
}
