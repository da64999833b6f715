//! `stream = "buffer"`: an attempt succeeds once its stream has ended without an error. Only then is anything yielded.

use core::future::Future;
use core::pin::pin;

use futures_core::Stream;

use super::{Giver, Patience, Retried, Stopped, ends, one_more};
use crate::time::timer::Timer;

pub async fn attempt<S, T, E, W>(
    stream: S,
    mut patience: Patience<E, W>,
) -> Result<Vec<T>, Stopped<E>>
where
    S: Stream<Item = Result<T, E>>,
    W: Timer,
{
    let mut stream = pin!(stream);
    let mut items = Vec::new();
    while let Some(item) = patience.item(stream.as_mut()).await? {
        items.push(item);
    }
    Ok(items)
}

/// An attempt of a call that has a fallback, and of what the fallback returned.
pub use attempt as attempt_or_fallback;
pub use attempt as fallen;

pub async fn finish<T, E>(giver: Giver<T, E>, outcome: Result<Vec<T>, E>) -> Option<Result<T, E>> {
    let mut items = match outcome {
        Ok(items) => items.into_iter(),
        Err(error) => return Some(Err(error)),
    };
    while let Some(item) = items.next() {
        giver.give(Ok(item), items.size_hint()).await;
    }
    None
}

/// The stream of an attempt that an async function awaited.
pub fn into_stream<T, E>(
    outcome: Result<Vec<T>, E>,
) -> Retried<T, E, impl Future<Output = Option<Result<T, E>>>> {
    let (giver, taker) = ends();
    giver.expect(match &outcome {
        Ok(items) => (items.len(), Some(items.len())),
        Err(_) => one_more((0, Some(0)), true),
    });
    Retried::new(taker, finish(giver, outcome))
}
