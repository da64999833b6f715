use alloc::sync::Arc;
use core::time::Duration;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};

use super::batches::AcrossThreads;
use super::rounds::{Batch, Rounds};
use super::stop::Stop;
use super::{Batches, ItemError};
use crate::call::attempted::run_within;
use crate::call::late;
use crate::chain::context::Context;
use crate::chain::into_chain::IntoChain;
use crate::chain::name::place_of;
use crate::chain::span::Span;
use crate::classify::rejected::RejectedBy;
use crate::in_flight::Shared;
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
    P: AcrossThreads<E>,
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
    P: AcrossThreads<E>,
    I: IntoIterator<Item: Clone + Send, IntoIter: Send>,
    F: Fn(Vec<I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
    T: Send,
    E: Send + Sync,
{
    let Batches {
        chain,
        size,
        concurrency,
    } = policy.into_batches();
    let chain = chain.into_chain();
    let (cancel, timer) = (chain.cancel, chain.timer);
    let is_spanned = chain.settings.is_spanned;
    let name = chain.name.unwrap_or_else(|| place_of::<F>().into());
    let rules = Context::named(chain.policy, chain.settings, &name, chain.observer);
    let span = Span::of_call(is_spanned, || rules.name());
    let _entered = span.enter();
    let (policy, name) = (*rules.policy(), Arc::<str>::from(rules.name()));
    let shared = Shared::new(&chain.protections, &timer, BlockingTimer::now);
    let items = items.into_iter();
    let rounds = Rounds::<P::Chain, _, _, _>::new(rules, shared, size, chain.on, items, results);
    let deadline = rounds.deadline;
    let rounds = Mutex::new(rounds);
    let stop = Stop::new(&cancel);
    let mut pause = Duration::ZERO;
    loop {
        let ended = || {
            let cancelled = cancel.is_cancelled().then_some(Reason::Cancelled);
            cancelled.or_else(|| late::late(deadline, pause, || timer.now()))
        };
        let attempt = |batch: &mut Batch<'_, P::Chain, I::Item>| {
            let span = Span::of_attempt(is_spanned, || batch.round.call().attempt());
            let attempt = || operation(batch.items());
            span.run(|| run_within(&policy, || Arc::clone(&name), attempt))
        };
        send_round::<P, _, _, _>(&rounds, &stop, (concurrency, &span), ended, attempt);
        match lock(&rounds).next_round(|| cancel.is_cancelled()) {
            Some(delay) => pause = delay,
            None => return,
        }
        // Where it is cut short, the next round is not sent.
        timer.sleep_or_cancelled(pause, &cancel);
    }
}

/// Sends the items of a round, in that many calls at a time, in that span.
fn send_round<'a, P, I, T, E>(
    rounds: &Mutex<Rounds<'a, P::Chain, I, T, E>>,
    stop: &Stop<'_, P::Cancel>,
    (concurrency, span): (usize, &Span),
    ended: impl Fn() -> Option<Reason> + Sync,
    operation: impl Fn(&mut Batch<'a, P::Chain, I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
) where
    P: AcrossThreads<E>,
    I: Iterator<Item: Clone + Send> + Send,
    T: Send,
    E: Send + Sync,
{
    // Each thread's first batch is drawn before the thread is made, so there are never more threads than calls.
    // Calls that have to wait are handed to a thread, too.
    let handed = Mutex::new(Vec::with_capacity(1));
    let hand = || {
        let batch = lock(rounds).next_batch(&ended);
        batch
            .map(|batch| lock(&handed).push((batch, None)))
            .is_some()
    };
    let next = || {
        if stop.has_panicked() {
            return None;
        }
        let handed = lock(&handed).pop();
        handed.or_else(|| Some((lock(rounds).next_batch(&ended)?, None)))
    };
    // The next batch, unless it has to wait or does not begin.
    let begin = || {
        let (mut batch, waits) = next()?;
        if let Some(end) = waits {
            stop.wait(&mut batch.round, end);
        }
        let Some(standing) = lock(rounds).proceed(batch) else {
            return Some(None);
        };
        if stop.has_panicked() {
            lock(rounds).rejected(standing.0.entries, RejectedBy::Cancelled);
            return Some(None);
        }
        let (begun, waits) = lock(rounds).begin(standing);
        // The time of a call that runs meanwhile is part of a pause.
        let waits = waits.map(|mut batch| {
            let end = batch.round.pause_end();
            (batch, Some(end))
        });
        lock(&handed).extend(waits);
        Some(begun)
    };
    let work = || {
        // Another thread is not in it yet.
        let _entered = span.enter();
        while let Some(begun) = begin() {
            if let Some(mut batch) = begun {
                let answers = operation(&mut batch);
                lock(rounds).answered(batch, answers);
            }
        }
    };
    work_at_once(concurrency, stop, hand, work);
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
