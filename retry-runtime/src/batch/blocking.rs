use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};

use super::rounds::{Rounds, Rules};
use super::stop::Stop;
use super::{Batches, IntoBatches, ItemError, SpansOf};
use crate::call::attempted;
use crate::chain::keys::{SharedByThreads, SharedKeys};
use crate::chain::name::{MayName, name_of};
use crate::chain::named::Chain;
use crate::chain::on_error::OnError;
use crate::chain::span::MayOpenSpans;
use crate::sync::lock;
use crate::testing::state::State;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;

/// As [`retry_each`](crate::retry_each), for blocking code: sleeps on this thread between rounds.
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
/// running call can't be dropped, so the deadline waits for it. After a panic in the operation or in the items'
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
            Keys: SharedByThreads,
        >,
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
            Keys: SharedByThreads,
        >,
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
    let Chain {
        on,
        cancel,
        timer,
        keys,
        ..
    } = call.chain;
    let keys = keys.into_keys();
    let rules = Rules {
        policy: call.policy,
        on,
        size,
        name: keys.name.name(|| name_of(&operation)),
        budget: &keys.budget,
        breaker: &keys.breaker,
        limiter: &keys.limiter,
        observer: keys.observer,
        idempotent: keys.idempotent,
    };
    let spans = keys.span;
    let span = spans.of_call(|| rules.name);
    let _entered = SpansOf::<P>::enter(&span);
    let now = || timer.now();
    let rounds = Rounds::new(rules, items.into_iter(), results, now);
    let deadline = rounds.deadline();
    let is_cancelled = || cancel.is_cancelled();
    let rounds = Mutex::new(rounds);
    // Each thread's first batch is drawn before the thread is made, so there are never more threads than calls.
    let handed = Mutex::new(Vec::with_capacity(1));
    let hand = || match lock(&rounds).next_batch(now, is_cancelled) {
        Some(batch) => {
            lock(&handed).push(batch);
            true
        }
        None => false,
    };
    let stop = Stop::new(&cancel);
    let next = || {
        if stop.has_panicked() {
            return None;
        }
        let batch = lock(&handed).pop();
        batch.or_else(|| lock(&rounds).next_batch(now, is_cancelled))
    };
    let begin = |batch| {
        let entered = lock(&rounds).enter(&batch);
        let turned = entered.and_then(|mut place| {
            if let Some(waited) = stop.turn(&mut place, &timer, deadline)? {
                lock(&rounds).waited(waited);
            }
            Ok(place)
        });
        match turned {
            Ok(place) => lock(&rounds).begin(batch, place),
            Err(by) => {
                lock(&rounds).rejected(batch, by);
                None
            }
        }
    };
    let work = || {
        // Another thread is not in it yet.
        let _entered = SpansOf::<P>::enter(&span);
        while let Some(batch) = next() {
            let Some(sent) = begin(batch) else {
                continue;
            };
            let attempt = || operation(sent.items());
            let answers =
                attempted::run!(spans.attempt(sent.round, attempt), lock(&rounds).outer());
            lock(&rounds).answered(sent, answers);
        }
    };
    loop {
        work_at_once(concurrency, &stop, hand, work);
        let pause = lock(&rounds).next_round(now, is_cancelled);
        let Some(pause) = pause else {
            return;
        };
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
