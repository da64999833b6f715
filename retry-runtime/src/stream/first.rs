//! `stream = "first"`: an attempt succeeds once its first item arrives, and what follows is passed on.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

use super::{Giver, Patience, Retried, SizeHint, Stopped, ends, one_more};
use crate::time::timer::Timer;

/// A stream whose first item has arrived, or that ended without one.
#[derive(Debug)]
pub struct Started<S, T, E, W> {
    first: Option<T>,
    stream: Pin<Box<S>>,
    patience: Patience<E, W>,
}

impl<S, T, E, W> Started<S, T, E, W>
where
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    /// Of what follows the first item.
    fn rest(&self) -> SizeHint {
        self.patience.size_hint(self.stream.size_hint())
    }
}

pub async fn attempt<S, T, E, W>(
    stream: S,
    mut patience: Patience<E, W>,
) -> Result<Started<S, T, E, W>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    let mut stream = Box::pin(stream);
    let first = patience.next(stream.as_mut()).await?;
    let first = first.transpose().map_err(Stopped::failed)?;
    Ok(Started {
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
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    let mut started = match outcome {
        Ok(started) => started,
        Err(error) => return Some(Err(error)),
    };
    // A stream that ended must not be polled again.
    let mut item = Ok(started.first.take()?);
    loop {
        giver.give(item, started.rest()).await;
        item = match started.patience.next(started.stream.as_mut()).await {
            Ok(next) => next?,
            Err(stopped) => return Some(Err(stopped.error)),
        };
    }
}

/// The stream of an attempt that an async function awaited.
pub fn into_stream<S, T, E, W>(
    outcome: Result<Started<S, T, E, W>, E>,
) -> Retried<T, E, impl Future<Output = Option<Result<T, E>>>>
where
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    let (giver, taker) = ends();
    giver.expect(match &outcome {
        Ok(started) if started.first.is_some() => one_more(started.rest(), true),
        Ok(_) => (0, Some(0)),
        Err(_) => one_more((0, Some(0)), true),
    });
    Retried::new(taker, finish(giver, outcome))
}
