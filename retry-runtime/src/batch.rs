//! Batches of items that each succeed or fail on their own, so that a retry sends only the failed ones.

mod batches;
mod blocking;
mod groups;
mod item_error;
mod rounds;

use std::future::Future;

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::call::by_policy::name_of;
use crate::time::timer::Timer;
pub use batches::{Batches, ByClassify, IntoBatches, OnError};
pub use blocking::retry_each_blocking;
pub use item_error::ItemError;
use rounds::Rounds;

/// Calls `operation` with all items, then again with the failed ones, until each has succeeded or was given up.
///
/// Returns a result for every item, in the order of `items`. An item that succeeded is never sent again.
///
/// ```
/// use retry_runtime::{Classify, Policy, retry_each};
///
/// #[derive(Debug, Classify)]
/// enum EmbedError {
///     #[classify(transient)]
///     Overloaded,
///     #[classify(stop)]
///     Empty,
/// }
/// # async fn post(texts: &[&String]) -> Result<Vec<Result<f32, EmbedError>>, EmbedError> {
/// #     if texts.is_empty() { return Err(EmbedError::Overloaded) }
/// #     let embed = |text: &&String| if text.is_empty() { Err(EmbedError::Empty) } else { Ok(1.0) };
/// #     Ok(texts.iter().map(embed).collect())
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let texts = [String::from("one"), String::new(), String::from("three")];
/// // At most 100 texts in a call, and at most 4 calls at the same time.
/// let batches = Policy::new().max(5).batches(100).concurrency(4);
/// let vectors = retry_each(batches, &texts, async |pending| post(&pending).await).await;
/// assert!(vectors[0].is_ok() && vectors[2].is_ok());
/// assert!(matches!(vectors[1].as_ref().unwrap_err().error(), Some(EmbedError::Empty)));
/// # }
/// ```
///
/// # Arguments
///
/// - A [`Policy`](crate::Policy) or a `&Policy`, which sends all items in one call; the result of
///   [`Policy::on`](crate::Policy::on), for error types that are not [`Classify`](crate::Classify); or [`Batches`],
///   which also sets how many items go into a call and how many calls run at the same time.
/// - The items. Every call that sends an item gets a clone of it, so pass something cheap to clone: references
///   (`&texts`), numbers, `Arc`s. They are taken from the iterator when the first call for them begins.
/// - The operation. It gets the items of one call in a `Vec`, in order, and returns one answer for each in the same
///   order, or an error if the whole call failed. An async closure must neither change nor own (`async move`) what it
///   captures, because the future that it returns would borrow it. Let the closure borrow.
///
/// # Rounds
///
/// The first round sends all items. When the last call of a round has ended, the failed items of all its calls wait
/// together and make up the next round, in the order of `items` and in batches that are as full as possible. So no call
/// waits because another one failed in its round, and the failed items of many calls are packed into few.
///
/// - An error of the whole call counts as the failure of every item in it.
/// - `max` and the sections' own `max` count for each item.
/// - The delay of a retry is drawn once for all items that failed with the same kind, and the longest hint among them
///   counts. The round waits for the longest of these delays. An item is given up alone, without delaying others, if
///   its hint is too long or reaches past the deadline.
/// - The policy's deadline is for the whole, from the first poll on. No call begins after it. Items not sent by then
///   get [`Reason::Deadline`](crate::Reason::Deadline), with the error of their last attempt if they had one.
///
/// # A wrong number of answers
///
/// If a call returns more or fewer answers than it got items, nobody can tell which answer belongs to which item. None
/// is used: each item of that call, and of no other, ends with [`Reason::Unanswered`](crate::Reason::Unanswered) and
/// both numbers. It is not sent again, because the request may have taken effect. If a server may leave answers out,
/// but says which ones it gives, put them in order and fill in an error of your own for each missing one.
///
/// # Futures
///
/// Nothing is spawned. Dropping the future drops the calls under way and all results. It is `Send` where the items, their iterator, the
/// operation, its future and `T` are, and the error is `Send` and `Sync`, as all items of a failed call share it.
#[must_use = "an item that was given up is only told of here"]
pub async fn retry_each<P, I, F, R, T, E>(
    policy: P,
    items: I,
    mut operation: F,
) -> Vec<Result<T, ItemError<E>>>
where
    P: IntoBatches<Timer: Timer, On: OnError<E>>,
    I: IntoIterator<Item: Clone>,
    F: FnMut(Vec<I::Item>) -> R,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let Batches {
        call,
        size,
        concurrency,
        timer,
    } = policy.into_batches();
    timer.expect();
    let mut rounds = Rounds::new(call, size, items.into_iter(), name_of(&operation), || {
        timer.now()
    });
    let mut calls = FuturesUnordered::new();
    loop {
        loop {
            while calls.len() < concurrency {
                let Some(batch) = rounds.next_batch(|| timer.now()) else {
                    break;
                };
                let answers = operation(batch.items());
                calls.push(async { (batch, answers.await) });
            }
            match calls.next().await {
                Some((batch, answers)) => rounds.answered(batch, answers),
                None => break,
            }
        }
        match rounds.next_round(|| timer.now()) {
            Some(pause) => timer.sleep(pause).await,
            None => return rounds.into_results(),
        }
    }
}
