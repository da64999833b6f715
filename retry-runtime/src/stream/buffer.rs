//! `stream = "buffer"`: an attempt succeeds once its stream has ended without an error. Only then is anything yielded.

use core::future::Future;
use core::pin::pin;

use futures_core::Stream;

use super::{Giver, Patience, Retried, Stopped, ends};
use crate::time::timer::Timer;

pub async fn attempt<S: Stream<Item = Result<T, E>>, T, E, W: Timer>(
    stream: S,
    mut patience: Patience<E, W>,
) -> Result<Vec<T>, Stopped<E>> {
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
    let items = match outcome {
        Ok(items) => items,
        Err(error) => return Some(Err(error)),
    };
    for item in items {
        giver.give(Ok(item)).await;
    }
    None
}

/// The stream of an attempt that an async function awaited.
pub fn into_stream<T, E>(
    outcome: Result<Vec<T>, E>,
) -> Retried<T, E, impl Future<Output = Option<Result<T, E>>>> {
    let (giver, taker) = ends();
    Retried::new(taker, finish(giver, outcome))
}
