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
mod keys;
mod queues;
mod quotas;

use shuttle::scheduler::{DfsScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

pub(crate) use sources::{
    breaker, budget, classify, clock, keyed, limiter, line, out_of_range, sync, time,
};

/// Every schedule, which takes small tests.
fn every(test: impl Fn() + Send + Sync + 'static) {
    run(DfsScheduler::new(None, false), test);
}

/// Schedules at random, for tests that have too many.
fn many(test: impl Fn() + Send + Sync + 'static) {
    run(RandomScheduler::new(500), test);
}

fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    // It is known that all orderings are treated as sequentially consistent.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(test);
}
