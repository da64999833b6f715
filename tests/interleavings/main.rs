//! Shared protections, under every interleaving of threads. These are sources of `retry-runtime` and
//! `retry-protections`, with locks and atomics that hand over to another thread at each use. A schedule that fails is
//! printed, and can be replayed.
//!
//! Processors' reorderings of relaxed accesses are not tested: the model is sequential consistency.

// Only some parts of these sources are used, and none is public.
#![allow(dead_code, unexpected_cfgs, unreachable_pub)]

extern crate alloc;

mod sources;

mod breakers;
mod budgets;
mod queues;

use std::sync::Arc;

use shuttle::scheduler::{DfsScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};

pub(crate) use sources::{
    breaker, budget, classify, clock, keyed, limiter, line, out_of_range, sync, time,
};

/// Runs a test under every schedule of its threads. The test must be small.
fn every(test: impl Fn() + Send + Sync + 'static) {
    run(DfsScheduler::new(None, false), test);
}

/// Runs a test under random schedules, if it has too many to run them all.
fn many(test: impl Fn() + Send + Sync + 'static) {
    run(RandomScheduler::new(500), test);
}

fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    // It is known that all orderings are treated as sequentially consistent.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(test);
}

/// Runs the threads at the same time. Returns their results.
fn at_once<S: Send + Sync + 'static, T: Send + 'static>(
    shared: &Arc<S>,
    threads: usize,
    work: impl Fn(&S, usize) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let work = Arc::new(work);
    let threads: Vec<_> = (0..threads)
        .map(|number| {
            let (shared, work) = (Arc::clone(shared), Arc::clone(&work));
            thread::spawn(move || work(&shared, number))
        })
        .collect();
    let ended = threads.into_iter().map(|thread| thread.join().unwrap());
    ended.collect()
}
