//! `stream = "buffer"`: an attempt succeeds once its stream has ended without an error. Items are yielded only then.

use futures_core::Stream;

use super::{Patience, Retried, Slot, Stopped, first, slot_ends};
use crate::time::Timer;

pub use super::first::{boxed, boxed as attempted, boxed as of_fallback};

pub async fn attempt<S: Stream<Item = Result<T, E>> + Unpin, T, E, W: Timer>(
    stream: S,
    patience: Patience<E, W>,
    _: impl FnMut(&T) -> bool,
) -> Result<Vec<T>, Stopped<E>> {
    let started = first::attempt(stream, patience, |_| false).await?;
    Ok(started.items)
}

pub async fn finish<T, E>(giver: Slot<T, E>, outcome: Result<Vec<T>, E>) -> Result<(), E> {
    for item in outcome? {
        giver.put(Ok(item)).await;
    }
    Ok(())
}

/// Converts an attempt's outcome to the stream that an async function returns.
pub fn into_stream<T, E>(
    outcome: Result<Vec<T>, E>,
) -> Retried<T, E, impl Future<Output = Result<(), E>>> {
    let (giver, taker) = slot_ends();
    Retried::new(taker, finish(giver, outcome))
}
