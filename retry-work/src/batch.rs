//! Batches of items that succeed or fail separately, so that a retry sends only the failed items.

pub(crate) mod batches;
pub(crate) mod blocking;
mod groups;
pub(crate) mod item_error;
mod part;
mod round;
mod rounds;
mod stop;
mod tally;

use std::pin::pin;
use std::sync::Arc;

use retry_runtime::chain::{IntoChain, MayCancel, OnError};
use retry_runtime::macro_support::{Job, Span, attempt_within, bounds, in_span, path_of};
use retry_runtime::{Policy, seam::Timer};

use crate::in_flight::run;
use batches::{Batches, IntoBatches};
use item_error::ItemError;
use rounds::{Batch, Rounds, clone_items};

/// Calls `operation` with all items, then again with the failed ones, until each item has succeeded or is given up.
///
/// Returns a result for every item, in the order of `items`. An item that succeeded is never sent again.
///
/// ```
/// use retry_runtime::{Classify, Policy};
/// use retry_work::{IntoBatches, retry_each};
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
/// // At most 100 texts per call, and at most 4 calls at once.
/// let batches = Policy::new().max(5).batches(100).concurrency(4);
/// let vectors = retry_each(batches, &texts, async |pending| post(&pending).await);
/// let vectors = vectors.await;
/// assert!(vectors[0].is_ok() && vectors[2].is_ok());
/// assert!(matches!(vectors[1].as_ref().unwrap_err().error(), Some(EmbedError::Empty)));
/// # }
/// ```
///
/// # Arguments
///
/// - The policy. A [`Policy`](retry_runtime::Policy) or a `&Policy` sends all items in one call. For error types that
///   are not [`Classify`](retry_runtime::Classify), pass the result of [`Policy::on`](retry_runtime::Policy::on) or
///   another chain of [keys](retry_runtime::chain::PolicyCall). A [`Batches`] also sets the number of items per call
///   and the number of concurrent calls.
/// - The items. Every call gets clones of its items, so pass items that are cheap to clone: references (`&texts`),
///   numbers, `Arc`s. An item is taken from the iterator when its first call starts.
/// - The operation. It gets the items of one call in a `Vec`, in order, and returns one answer for each item in the
///   same order, or an error if the whole call failed. An async closure must neither change nor own (`async move`) the
///   values it captures, because its future would borrow them from the closure. Let the closure capture references.
///
/// # Rounds
///
/// The first round sends all items. When the last call of a round has ended, the failed items of all its calls wait
/// together and form the next round, in the order of `items` and in batches that are as full as possible. So no call
/// waits because another call in its round failed, and the failed items of many calls are packed into few calls.
///
/// - An error of the whole call counts as the failure of every item in it.
/// - `max`, including a section's, applies to each item.
/// - One delay is drawn for all items that failed with the same kind, with the longest hint among them. The next round
///   waits for the longest of these delays. An item whose hint is too long or exceeds the deadline is given up, and
///   doesn't delay the others.
/// - The policy's deadline applies to the whole batch, from the first poll. No call starts after the deadline, and
///   calls in flight are dropped when it passes. Their items, and items not sent by then, get
///   [`Reason::Deadline`](retry_runtime::Reason::Deadline), with their last error, if any. All other results are
///   returned.
/// - [`Policy::cancel`](retry_runtime::Policy::cancel) ends the pause and the batch. No call starts after a
///   cancellation, and calls in flight may finish. Items that failed or were not sent by then get
///   [`Reason::Cancelled`](retry_runtime::Reason::Cancelled).
///
/// # Shared protections
///
/// For a [`budget`](retry_runtime::chain::PolicyCall::budget) and a
/// [`breaker`](retry_runtime::chain::PolicyCall::breaker), each item that is sent is a separate attempt, but a call
/// that fails or succeeds as a whole counts once. With a [`limiter`](retry_runtime::chain::PolicyCall::limiter), each
/// call waits to be admitted, and costs as much as its items together:
///
/// ```
/// use std::time::Duration;
/// use retry_protections::{Quota, RateLimiter};
/// use retry_runtime::Policy;
/// use retry_work::{IntoBatches, retry_each};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// // 10 items a second.
/// let limiter: RateLimiter<Quota> = RateLimiter::fixed(10, Duration::from_secs(1));
/// let start = tokio::time::Instant::now();
/// let batches = Policy::new().on(|_: &String| true).limiter(&limiter).batches(20);
/// let sent = retry_each(batches, 0..60, async |pending| {
///     Ok(pending.into_iter().map(Ok).collect())
/// });
/// assert!(sent.await.iter().all(Result::is_ok));
/// // The third call waited for the first two.
/// assert_eq!(start.elapsed(), Duration::from_secs(4));
/// # }
/// ```
///
/// # A wrong number of answers
///
/// If a call returns more or fewer answers than it got items, the answers can't be matched to items. So no answer is
/// used: each item of that call ends with [`Reason::Unanswered`](retry_runtime::Reason::Unanswered), and is not sent
/// again, because the request may have taken effect. Items of other calls are not affected. If a server omits some
/// answers but identifies the others, put those in order and add your own error for each missing answer.
///
/// # Futures
///
/// Nothing is spawned. Dropping the future drops the calls in flight and all results; [`retry_each_into`] keeps the
/// results. The future is `Send` if the items, their iterator, the operation, its future and `T` are, and the error is
/// `Send` and `Sync`, because all items of a failed call share the error.
#[must_use = "items that were given up are reported only here"]
pub async fn retry_each<I, R, T, E>(
    policy: impl IntoBatches<Timer: Timer, On: OnError<E>, Cancel: MayCancel>,
    items: I,
    operation: impl FnMut(Vec<I::Item>) -> R,
) -> Vec<Result<T, ItemError<E>>>
where
    I: IntoIterator<Item: Clone>,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let mut results = Vec::new();
    retry_each_into(&mut results, policy, items, operation).await;
    results
}

/// Like [`retry_each`], but stores the results in your `Vec`, so that you keep them if the future is dropped or the
/// operation panics.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Policy, Reason};
/// use retry_work::{IntoBatches, retry_each_into};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let batches = Policy::new().on(|_: &String| true).batches(1);
/// let mut results = Vec::new();
/// let run = retry_each_into(&mut results, batches, [1, 2, 3], async |pending| {
///     if pending == [2] {
///         std::future::pending::<()>().await; // It never responds.
///     }
///     Ok(pending.iter().map(|number| Ok(number * 10)).collect())
/// });
/// let user = tokio::time::timeout(Duration::from_secs(30), run);
/// assert!(user.await.is_err());
///
/// assert_eq!(results[0], Ok(10)); // It cost money, and is kept.
/// let error = results[1].as_ref().unwrap_err();
/// assert!(error.is_dropped() && error.reason() == Reason::Cancelled);
/// assert_eq!(results.len(), 2); // The third was never taken from the items.
/// # }
/// ```
/// The first poll empties `results`. From then on, `results` has a result for every item that was taken from `items`,
/// in order. An unfinished item has an [`ItemError`] with [`Reason::Cancelled`](retry_runtime::Reason::Cancelled). The
/// error's [`is_dropped`](ItemError::is_dropped) is true while a call with the item is in flight: if the future is
/// dropped then, the request may have taken effect.
pub fn retry_each_into<I, R, T, E>(
    results: &mut Vec<Result<T, ItemError<E>>>,
    policy: impl IntoBatches<Timer: Timer, On: OnError<E>, Cancel: MayCancel>,
    items: I,
    mut operation: impl FnMut(Vec<I::Item>) -> R,
) -> impl Future<Output = ()>
where
    I: IntoIterator<Item: Clone>,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let Batches {
        chain,
        size,
        concurrency,
    } = policy.into_batches();
    let mut chain = chain.into_chain();
    let name = chain.name.take();
    let name = name.unwrap_or_else(|| path_of_closure(&operation).into());
    let is_spanned = chain.context.is_spanned();
    in_span(is_spanned.then(|| name.clone()), async move {
        let shared = chain.shared;
        let job = Job::new(chain.context, &name, &shared, Timer::now);
        let mut bounds = bounds(&shared.timer, &name, job.deadline(), chain.cancel).await;
        let mut rounds = Rounds::new(job, chain.on, size, items.into_iter(), results);
        let mut begin = |rounds: &mut Rounds<'_, _, _, _, _>,
                         (entries, call): &mut Batch<'_, _, _>| {
            let number = call.call().attempt();
            let span = Span::of_attempt(is_spanned, || number);
            let answers = span.within(|| operation(clone_items(entries)));
            in_outer_call(answers, rounds.job.context.policy(), &name)
        };
        loop {
            run(&mut rounds, concurrency, &mut bounds, &mut begin).await;
            match rounds.next_round(|| bounds.is_cancelled()) {
                Some(pause) => bounds.pause(shared.timer.sleep(pause)).await,
                None => return,
            }
        }
    })
}

/// The path of the function that contains this closure.
fn path_of_closure<F>(_: &F) -> &'static str {
    path_of::<F>()
}

/// Registers the batch as the outer call of the calls made inside it.
fn in_outer_call<F: Future>(
    answers: F,
    policy: &Policy,
    name: &str,
) -> impl Future<Output = F::Output> + use<F> {
    let (policy, name) = (Box::new(*policy), Arc::from(name));
    async move { attempt_within(pin!(answers), &policy, || name).await }
}
