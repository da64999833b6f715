//! Drops futures at every point where they wait.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem::replace;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use retry_protections::ConcurrencyLimiter;
use retry_runtime::Budget;

use crate::failure::{Failure, TRANSIENT};
use crate::limiters::at_a_time;

/// Gives way once, and is woken at once: tokio's own needs a runtime, and wakes only once that is idle.
pub async fn give_way() {
    let mut gave_way = false;
    poll_fn(|context| {
        if replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls a future a number of times, and drops it. Returns its output if it completed.
pub fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// Counts itself among those that are alive.
pub struct Alive<'a>(&'a Cell<i32>);

impl<'a> Alive<'a> {
    /// One more.
    pub fn new(alive: &'a Cell<i32>) -> Self {
        alive.set(alive.get() + 1);
        Self(alive)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// The protections that a run shares, and the number of attempts it started.
pub struct Shared {
    /// The budget for retries.
    pub budget: Budget,
    /// Two at a time.
    pub limiter: ConcurrencyLimiter,
    begun: Cell<u32>,
}

impl Shared {
    /// Makes a number of attempts, which fail together after a wait.
    pub async fn attempts(&self, attempts: usize) -> Failure {
        let attempts = u32::try_from(attempts).unwrap();
        self.begun.set(self.begun.get() + attempts);
        give_way().await;
        TRANSIENT
    }
}

/// Checks that a run that is dropped at any point has refunded retries that did not start, and has released its slots.
/// A complete run makes `first` first attempts, and two retries of each.
pub fn leaves_nothing_behind(first: u32, mut run: impl AsyncFnMut(&Shared)) {
    for polls in 0..199 {
        let shared = Shared {
            budget: Budget::standard(),
            limiter: at_a_time(2),
            begun: Cell::new(0),
        };
        let ended = dropped_after(polls, run(&shared));
        let places = (shared.limiter.running(), shared.limiter.waiting());
        assert_eq!(places, (0, 0), "after {polls} polls");
        let retries = shared.begun.get().saturating_sub(first);
        let spent = 500.0 - shared.budget.available();
        assert!(
            (spent - f64::from(14 * retries)).abs() < 0.5,
            "after {polls} polls: {spent}"
        );
        if ended.is_some() {
            assert_eq!(retries, 2 * first);
            return;
        }
    }
    panic!("it never ended");
}

/// Runs a closure when it is dropped.
pub struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
