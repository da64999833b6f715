use core::time::Duration;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};

use super::batches::{GuardsOf, SpansOf};
use super::rounds::{Batch, Rounds};
use super::stop::Stop;
use super::{Batches, IntoBatches, ItemError};
use crate::call::attempted;
use crate::call::attempts::Attempts;
use crate::call::late;
use crate::chain::context::Context;
use crate::chain::keys::SharedKeys;
use crate::chain::name::name_of;
use crate::chain::on_error::OnError;
use crate::chain::span::SpanKey;
use crate::classify::rejected::RejectedBy;
use crate::observe::reason::Reason;
use crate::sync::lock;
use crate::testing::state::State;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// Retries the failed items of a batch as [`retry_each`](crate::retry_each) does, for blocking code: sleeps on this
/// thread between rounds.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use retry_runtime::{Policy, retry_each_blocking};
///
/// let calls = AtomicU32::new(0);
/// let batches = Policy::none().on(|_: &String| true).batches(10).concurrency(2);
/// let lengths = retry_each_blocking(batches, ["one", "three"], |pending| {
///     match calls.fetch_add(1, Ordering::Relaxed) {
///         0 => Err(String::from("503 overloaded")),
///         _ => Ok(pending.iter().map(|text| Ok(text.len())).collect()),
///     }
/// });
/// assert_eq!(lengths, [Ok(3), Ok(5)]);
/// ```
///
/// Concurrent calls run on the calling thread and on scoped threads, which end with each round. With a concurrency of
/// 1, the default, there are no other threads. If the system refuses a thread, fewer calls run at the same time. A
/// running call can't be dropped, so the deadline waits for it; a round may begin after it by as much as
/// [`Call::resumed`](crate::Call::resumed) allows a pause to end late. After a panic in the operation or in the items'
/// iterator no further call begins, not even one that waits for a limiter; the panic is passed on once the other
/// running calls have ended.
#[must_use = "an item that was given up is only told of here"]
pub fn retry_each_blocking<P, I, F, T, E>(
    policy: P,
    items: I,
    operation: F,
) -> Vec<Result<T, ItemError<E>>>
where
    P: IntoBatches<
            On: OnError<E> + Send,
            Timer: BlockingTimer + Sync,
            Cancel: Cancel + Sync,
            Keys: SharedKeys<Guards: Send, Name: Send, Observer: Send>,
        >,
    Attempts<GuardsOf<P>>: Send,
    I: IntoIterator<Item: Clone + Send, IntoIter: Send>,
    F: Fn(Vec<I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
    T: Send,
    E: Send + Sync,
{
    let mut results = Vec::new();
    retry_each_blocking_into(&mut results, policy, items, operation);
    results
}

/// Like [`retry_each_blocking`], but puts the results into your `Vec`. You keep them if the operation panics: see
/// [`retry_each_into`](crate::retry_each_into).
pub fn retry_each_blocking_into<P, I, F, T, E>(
    results: &mut Vec<Result<T, ItemError<E>>>,
    policy: P,
    items: I,
    operation: F,
) where
    P: IntoBatches<
            On: OnError<E> + Send,
            Timer: BlockingTimer + Sync,
            Cancel: Cancel + Sync,
            Keys: SharedKeys<Guards: Send, Name: Send, Observer: Send>,
        >,
    Attempts<GuardsOf<P>>: Send,
    I: IntoIterator<Item: Clone + Send, IntoIter: Send>,
    F: Fn(Vec<I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
    T: Send,
    E: Send + Sync,
{
    let Batches {
        call,
        size,
        concurrency,
    } = policy.into_batches();
    let mut rules = Context::<_, P::Keys, _>::new(call.policy, call.keys, name_of(&operation));
    let (timer, cancel, spans) = (call.timer, call.cancel, rules.keys.span);
    rules.starts(|| timer.clock());
    let span = spans.of_call(|| rules.name());
    let _entered = SpansOf::<P>::enter(&span);
    let now = || timer.now();
    let rounds = Rounds::new(rules, size, call.on, items.into_iter(), results, now);
    let deadline = rounds.deadline;
    let rounds = Mutex::new(rounds);
    let stop = Stop::new(&cancel);
    let mut pause = Duration::ZERO;
    loop {
        let ended = || {
            let cancelled = cancel.is_cancelled().then_some(Reason::Cancelled);
            cancelled.or_else(|| late::late(deadline, pause, now))
        };
        // Each thread's first batch is drawn before the thread is made, so there are never more threads than calls.
        // Calls that have to wait are handed to a thread, too.
        let handed = Mutex::new(Vec::with_capacity(1));
        let hand = || {
            let batch = lock(&rounds).next_batch(ended);
            batch
                .map(|batch| lock(&handed).push((batch, None)))
                .is_some()
        };
        let next = || {
            if stop.has_panicked() {
                return None;
            }
            let handed = lock(&handed).pop();
            handed.or_else(|| Some((lock(&rounds).next_batch(ended)?, None)))
        };
        let begin = |(mut batch, awaited): (Batch<_, GuardsOf<P>>, _)| {
            let waited = stop.wait(&mut batch.round, awaited, &timer, deadline);
            let standing = lock(&rounds).proceed(batch, waited, now)?;
            if stop.has_panicked() {
                lock(&rounds).rejected(standing.0.entries, RejectedBy::Cancelled);
                return None;
            }
            let (begun, waits) = lock(&rounds).begin(standing, now);
            lock(&handed).extend(waits);
            begun
        };
        let work = || {
            // Another thread is not in it yet.
            let _entered = SpansOf::<P>::enter(&span);
            while let Some(batch) = next() {
                let Some(batch) = begin(batch) else {
                    continue;
                };
                let attempt = || operation(batch.items());
                let answers = attempted::run!(
                    spans.attempt(batch.number(), attempt),
                    lock(&rounds).outer()
                );
                lock(&rounds).answered(batch, answers);
            }
        };
        work_at_once(concurrency, &stop, hand, work);
        match lock(&rounds).next_round(now, || cancel.is_cancelled()) {
            Some(delay) => pause = delay,
            None => return,
        }
        // Where it is cut short, the next round is not sent.
        timer.sleep_or_cancelled(pause, &cancel);
    }
}

/// Runs `work` on at most that many threads, this one included, as long as `hand` has something for another.
fn work_at_once<C: Cancel + Sync>(
    threads: usize,
    stop: &Stop<'_, C>,
    hand: impl Fn() -> bool,
    work: impl Fn() + Sync,
) {
    let other = || stop.on_panic(&work);
    thread::scope(|scope| {
        let mut others = Vec::new();
        stop.on_panic(|| {
            hand();
            for _ in 1..threads {
                if !hand() {
                    break;
                }
                match thread::Builder::new().spawn_scoped(scope, State::carry(other)) {
                    Ok(other) => others.push(other),
                    Err(_) => break,
                }
            }
            work();
        });
        // Each has ended before the first panic goes on, with what it says.
        let ends: Vec<_> = others.into_iter().map(ScopedJoinHandle::join).collect();
        if let Some(panic) = ends.into_iter().find_map(Result::err) {
            resume_unwind(panic);
        }
    });
}
