//! Batches of items that each succeed or fail on their own, so that a retry sends only the failed ones.

mod batches;
mod blocking;
mod groups;
mod item_error;
mod part;
mod round;
mod rounds;
mod stop;
mod tally;

use alloc::boxed::Box;
#[cfg(feature = "nested")]
use alloc::sync::Arc;
use core::future::Future;
use core::pin::pin;

#[cfg(feature = "nested")]
use crate::call::attempted::attempt_within;
use crate::chain::context::Context;
use crate::chain::into_chain::{Chain, IntoChain};
use crate::chain::name::place_of;
use crate::chain::on_error::OnError;
use crate::chain::span::{Span, around};
use crate::classify::rejected::RejectedBy;
use crate::in_flight::{Bounds, InFlight, Next, Shared, turn};
#[cfg(feature = "nested")]
use crate::policy::Policy;
use crate::time::cancel::{MayAbort, MayCancel};
use crate::time::signal::Signal;
use crate::time::timer::{Timer, sleep_until};
pub use batches::{Batches, IntoBatches};
pub use blocking::{retry_each_blocking, retry_each_blocking_into};
pub use item_error::ItemError;
use rounds::{Batch, Rounds};

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
/// let vectors = retry_each(batches, &texts, async |pending| post(&pending).await);
/// let vectors = vectors.await;
/// assert!(vectors[0].is_ok() && vectors[2].is_ok());
/// assert!(matches!(vectors[1].as_ref().unwrap_err().error(), Some(EmbedError::Empty)));
/// # }
/// ```
///
/// # Arguments
///
/// - A [`Policy`](crate::Policy) or a `&Policy`, which sends all items in one call; the result of
///   [`Policy::on`](crate::Policy::on), for error types that are not [`Classify`](crate::Classify), or another chain of
///   [keys](crate::PolicyCall); or [`Batches`], which also sets how many items go into a call and how many calls run at
///   the same time.
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
/// - The policy's deadline is for the whole, from the first poll on. No call begins after it, and running calls are
///   dropped at it. Their items, and those not sent by then, get [`Reason::Deadline`](crate::Reason::Deadline), with the
///   last error that they had, if any. All other results are returned.
/// - What [`Policy::cancel`](crate::Policy::cancel) names ends the pause and the batch. No call begins after it, and
///   running calls may finish. Items that failed, and those not sent by then, get
///   [`Reason::Cancelled`](crate::Reason::Cancelled).
///
/// # Shared protections
///
/// To what [`PolicyCall::budget`](crate::PolicyCall::budget) and [`breaker`](crate::PolicyCall::breaker) name, each
/// item that is sent is an attempt of its own, but a call that fails or succeeds as a whole counts once. With a
/// [`limiter`](crate::PolicyCall::limiter), a call waits for its turn, and costs as much as its items together:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Policy, Quota, RateLimiter, retry_each};
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
/// If a call returns more or fewer answers than it got items, nobody can tell which answer belongs to which item. None
/// is used: each item of that call, and of no other, ends with [`Reason::Unanswered`](crate::Reason::Unanswered) and
/// both numbers. It is not sent again, because the request may have taken effect. If a server may leave answers out,
/// but says which ones it gives, put them in order and fill in an error of your own for each missing one.
///
/// # Futures
///
/// Nothing is spawned. Dropping the future drops the running calls and all results; [`retry_each_into`] keeps the
/// results. The future is `Send` where the items, their iterator, the operation, its future and `T` are, and the error is
/// `Send` and `Sync`, as all items of a failed call share it.
#[must_use = "an item that was given up is only told of here"]
pub async fn retry_each<P, I, F, R, T, E>(
    policy: P,
    items: I,
    operation: F,
) -> Vec<Result<T, ItemError<E>>>
where
    P: IntoBatches<Timer: Timer, On: OnError<E>, Cancel: MayCancel>,
    I: IntoIterator<Item: Clone>,
    F: FnMut(Vec<I::Item>) -> R,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let mut results = Vec::new();
    retry_each_into(&mut results, policy, items, operation).await;
    results
}

/// Like [`retry_each`], but puts the results into your `Vec`. You keep them if the future is dropped or the operation
/// panics.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Policy, Reason, retry_each_into};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let batches = Policy::new().on(|_: &String| true).batches(1);
/// let mut results = Vec::new();
/// let run = retry_each_into(&mut results, batches, [1, 2, 3], async |pending| {
///     if pending == [2] {
///         std::future::pending::<()>().await; // It never answers.
///     }
///     Ok(pending.iter().map(|number| Ok(number * 10)).collect())
/// });
/// let user = tokio::time::timeout(Duration::from_secs(30), run);
/// assert!(user.await.is_err());
///
/// assert_eq!(results[0], Ok(10)); // It is paid for, and kept.
/// let error = results[1].as_ref().unwrap_err();
/// assert!(error.is_dropped() && error.reason() == Reason::Cancelled);
/// assert_eq!(results.len(), 2); // The third was never drawn from the items.
/// # }
/// ```
///
/// The first poll empties `results`. From then on it has a result for every item that was taken from `items`, in order.
/// An item that isn't done has an [`ItemError`] with [`Reason::Cancelled`](crate::Reason::Cancelled). Its
/// [`is_dropped`](ItemError::is_dropped) is true while a call with it runs: if the future is dropped then, the request
/// may have taken effect.
pub fn retry_each_into<P, I, F, R, T, E>(
    results: &mut Vec<Result<T, ItemError<E>>>,
    policy: P,
    items: I,
    operation: F,
) -> impl Future<Output = ()>
where
    P: IntoBatches<Timer: Timer, On: OnError<E>, Cancel: MayCancel>,
    I: IntoIterator<Item: Clone>,
    F: FnMut(Vec<I::Item>) -> R,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let batches = policy.into_batches();
    let mut chain = batches.chain.into_chain();
    let name = chain.name.take().unwrap_or_else(|| place_of::<F>().into());
    let span = chain.settings.is_spanned.then(|| name.clone());
    let numbers = (batches.size, batches.concurrency);
    around(span, send(results, chain, name, numbers, items, operation))
}

/// Sends rounds until each item has succeeded or was given up.
async fn send<P, I, F, R, T, E>(
    results: &mut Vec<Result<T, ItemError<E>>>,
    chain: Chain<P>,
    name: Box<str>,
    (size, concurrency): (usize, usize),
    items: I,
    mut operation: F,
) where
    P: IntoChain<Timer: Timer, On: OnError<E>, Cancel: MayCancel>,
    I: IntoIterator<Item: Clone>,
    F: FnMut(Vec<I::Item>) -> R,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let timer = chain.timer;
    let is_spanned = chain.settings.is_spanned;
    let rules = Context::named(chain.policy, chain.settings, &name, chain.observer);
    timer.expect(|| rules.name());
    let shared = Shared::new(&chain.protections, &timer, Timer::now);
    let items = items.into_iter();
    let mut rounds = Rounds::<P, _, _, _>::new(rules, shared, size, chain.on, items, results);
    let cancelled = pin!(chain.cancel.into_cancelled());
    let deadline = rounds.deadline;
    let mut bounds = Bounds {
        timer: &timer,
        deadline,
        end: pin!(sleep_until(&timer, deadline)),
        signal: Signal::new(cancelled).await,
    };
    let most = (concurrency, is_spanned);
    loop {
        send_round(&mut rounds, &mut bounds, &mut operation, most).await;
        match rounds.next_round(|| bounds.signal.is_cancelled()) {
            Some(pause) => bounds.pause(pause).await,
            None => return,
        }
    }
}

/// Sends the items of a round, in that many calls at a time, each in a span if that is true.
async fn send_round<P, I, F, R, T, E>(
    rounds: &mut Rounds<'_, P, I, T, E>,
    bounds: &mut Bounds<'_, P::Timer, impl Future<Output = ()>, impl Future>,
    operation: &mut F,
    (concurrency, is_spanned): (usize, bool),
) where
    P: IntoChain<Timer: Timer, On: OnError<E>>,
    I: Iterator<Item: Clone>,
    F: FnMut(Vec<I::Item>) -> R,
    R: Future<Output = Result<Vec<Result<T, E>>, E>>,
{
    let mut in_flight = InFlight::new(concurrency);
    let mut drawn = 0;
    loop {
        let mut next = None;
        while next.is_none() && in_flight.has_room() {
            let Some(batch) = rounds.next_batch(|| bounds.ended()) else {
                break;
            };
            drawn += 1;
            next = rounds.proceed(batch).map(|entered| (drawn, entered));
        }
        if next.is_none() {
            if in_flight.is_empty() {
                return;
            }
            match in_flight.next(bounds).await {
                Next::Turn(call, entries, round) => {
                    let entered = rounds.proceed(Batch { entries, round });
                    next = entered.map(|entered| (call, entered));
                }
                Next::Ended(_, batch, answers) => rounds.answered(batch, answers),
                Next::Stopped(by, queued, sent) => {
                    for (_, entries) in queued {
                        rounds.rejected(entries, by);
                    }
                    if by == RejectedBy::Deadline {
                        return rounds.dropped(sent.into_iter().map(|(_, batch)| batch));
                    }
                }
            }
        }
        let Some((call, standing)) = next else {
            continue;
        };
        let (begun, waits) = rounds.begin(standing);
        if let Some(Batch { entries, round }) = waits {
            in_flight.wait(call, entries, turn(round, rounds.deadline));
        }
        if let Some(mut batch) = begun {
            let number = batch.round.call().attempt();
            let items = batch.items();
            let answers = Span::of_attempt(is_spanned, || number).within(|| operation(items));
            #[cfg(feature = "nested")]
            let answers = around_others(answers, rounds.rules.policy(), rounds.rules.name());
            in_flight.begin(call, batch, answers);
        }
    }
}

/// The call of a batch, which is the outer one for calls that it makes.
#[cfg(feature = "nested")]
fn around_others<F: Future>(
    answers: F,
    policy: &Policy,
    name: &str,
) -> impl Future<Output = F::Output> + use<F> {
    let (policy, name) = (Box::new(*policy), Arc::from(name));
    async move { attempt_within(pin!(answers), &policy, || name).await }
}
