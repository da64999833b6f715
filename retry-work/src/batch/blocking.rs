use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use retry_runtime::chain::{IntoChain, OnError};
use retry_runtime::macro_support::{Job, Span, carry, path_of, run_within, sync::lock};
use retry_runtime::{Cancel, Reason, RejectedBy, seam::BlockingTimer};

use super::rounds::{Batch, Rounds, clone_items};
use super::stop::Stop;
use super::{Batches, IntoBatches, ItemError};
use crate::in_flight::Work;

/// Retries the failed items of a batch like [`retry_each`](crate::retry_each), but for blocking code: sleeps on the
/// calling thread between rounds.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use retry_runtime::Policy;
/// use retry_work::{IntoBatches, retry_each_blocking};
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
/// 1, the default, there are no other threads. If the system can't start a thread, fewer calls run at once. A running
/// call can't be dropped, so the deadline doesn't interrupt it. A round may start after the deadline if the pause
/// before it ends no later than [`Call::resumed`](retry_runtime::own_loop::Call::resumed) allows. After a panic in the
/// operation or in the items' iterator, no further call starts, not even a call that waits for a limiter. The panic
/// resumes once the other running calls have ended.
#[must_use = "items that were given up are reported only here"]
pub fn retry_each_blocking<I, F, T, E>(
    policy: impl IntoBatches<
        On: OnError<E> + Send,
        Timer: BlockingTimer + Sync,
        Cancel: Cancel + Sync,
        Chain: IntoChain<Protections: Sync, Observer: Send>,
    >,
    items: I,
    operation: F,
) -> Vec<Result<T, ItemError<E>>>
where
    I: IntoIterator<Item: Clone + Send, IntoIter: Send>,
    F: Fn(Vec<I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
    T: Send,
    E: Send + Sync,
{
    let mut results = Vec::new();
    retry_each_blocking_into(&mut results, policy, items, operation);
    results
}

/// Like [`retry_each_blocking`], but stores the results in your `Vec`, so that you keep them if the operation panics:
/// see [`retry_each_into`](crate::retry_each_into).
pub fn retry_each_blocking_into<I, F, T, E>(
    results: &mut Vec<Result<T, ItemError<E>>>,
    policy: impl IntoBatches<
        On: OnError<E> + Send,
        Timer: BlockingTimer + Sync,
        Cancel: Cancel + Sync,
        Chain: IntoChain<Protections: Sync, Observer: Send>,
    >,
    items: I,
    operation: F,
) where
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
    let (cancel, shared) = (chain.cancel, chain.shared);
    let is_spanned = chain.context.is_spanned();
    let name = chain.name.unwrap_or_else(|| path_of::<F>().into());
    let span = Span::of_call(is_spanned, || &name);
    let _entered = span.enter();
    let (policy, shared_name) = (*chain.context.policy(), Arc::<str>::from(&*name));
    let job = Job::new(chain.context, &name, &shared, BlockingTimer::now);
    let rounds = Rounds::new(job, chain.on, size, items.into_iter(), results);
    let rounds = Mutex::new(rounds);
    let stop = Stop::new(&cancel);
    let mut pause = Duration::ZERO;
    loop {
        let ended = |job: &Job<'_, _>| {
            let cancelled = cancel.is_cancelled().then_some(Reason::Cancelled);
            cancelled.or_else(|| job.late_reason(pause))
        };
        let attempt = |(entries, call): &mut Batch<'_, _, _>| {
            let span = Span::of_attempt(is_spanned, || call.call().attempt());
            let attempt = || operation(clone_items(entries));
            span.run(|| run_within(&policy, || Arc::clone(&shared_name), attempt))
        };
        send_round(&rounds, &stop, (concurrency, &span), ended, attempt);
        match lock(&rounds).next_round(|| cancel.is_cancelled()) {
            Some(delay) => pause = delay,
            None => return,
        }
        // If the sleep is cancelled, the next round is not sent.
        shared.timer.sleep_or_cancelled(pause, &cancel);
    }
}

/// Sends the items of a round, with the given number of concurrent calls, in the span.
fn send_round<'a, Q, I, T, E>(
    rounds: &Mutex<Rounds<'a, Q, I, T, E>>,
    stop: &Stop<'_, impl Cancel + Sync>,
    (concurrency, span): (usize, &Span),
    ended: impl Fn(&Job<'a, Q>) -> Option<Reason> + Sync,
    operation: impl Fn(&mut Batch<'a, Q, I::Item>) -> Result<Vec<Result<T, E>>, E> + Sync,
) where
    Q: IntoChain<On: OnError<E>, Timer: BlockingTimer>,
    I: Iterator,
    Rounds<'a, Q, I, T, E>: Send,
    Batch<'a, Q, I::Item>: Send,
{
    // Each thread's first batch is drawn before the thread is started, so there are never more threads than calls.
    // `handed` also contains calls that have to wait, with the end of their pause.
    let handed = Mutex::new(Vec::with_capacity(1));
    let draw = || Some((lock(rounds).next_batch(&ended)?, None));
    let hand = || draw().map(|batch| lock(&handed).push(batch)).is_some();
    let next = || {
        if stop.has_panicked() {
            return None;
        }
        let handed = lock(&handed).pop();
        handed.or_else(draw)
    };
    let work = || {
        // Each thread enters the span separately.
        let _entered = span.enter();
        while let Some((mut batch, waits)) = next() {
            if let Some(end) = waits {
                stop.wait::<Q>(&mut batch.1, end);
            }
            if stop.has_panicked() {
                lock(rounds).end_rejected(batch.0, RejectedBy::Cancelled);
                continue;
            }
            let (begun, waiting) = lock(rounds).proceed(batch, &mut || false);
            // The pause includes the time of a call that runs in the meantime.
            let waiting = waiting.map(|mut batch| {
                let end = batch.1.pause_end();
                (batch, Some(end))
            });
            lock(&handed).extend(waiting);
            if let Some(mut batch) = begun {
                let answers = operation(&mut batch);
                lock(rounds).handle_outcome(batch, answers);
            }
        }
    };
    work_in_threads(concurrency, stop, hand, work);
}

/// Runs `work` on at most `threads` threads, including this one. Starts another thread while `hand` returns true.
fn work_in_threads<C: Cancel + Sync>(
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
                match thread::Builder::new().spawn_scoped(scope, carry(other)) {
                    Ok(other) => others.push(other),
                    Err(_) => break,
                }
            }
            work();
        });
        // Resume the first panic, with its message, only after all threads have ended.
        let ends: Vec<_> = others.into_iter().map(ScopedJoinHandle::join).collect();
        if let Some(panic) = ends.into_iter().find_map(Result::err) {
            resume_unwind(panic);
        }
    });
}
