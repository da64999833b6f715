//! Every waiter gets a turn, even if others give up: after a lost wake-up, all threads would sleep, which fails a test.
//! The number of waiters with a turn never exceeds the number of slots. Elapsed time restores consumed capacity, and no
//! time counts twice, no matter which threads make corrections.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use retry_runtime::seam::{Admission, AdmissionControl, AttemptOutcome, Change, Permit};
use shuttle::future::{block_on, spawn, yield_now};

use crate::clock;
use crate::limiter::gate::{Gate, Now};
use crate::limiter::queue::Queue;
use crate::limiter::quota::Quota;
use crate::limiter::rate_limiter::RateLimiter;
use crate::{at_once, many};

const SECOND: Duration = Duration::from_secs(1);

/// A limiter with a fixed number of slots.
#[derive(Clone, Copy)]
struct Places(u32);

impl Gate for Places {
    fn admit(&mut self, cost: u32, _: impl Now) -> Result<u32, Option<Duration>> {
        self.0 = self.0.checked_sub(cost).ok_or(None)?;
        Ok(0)
    }

    fn leave(&mut self, cost: u32, _: u32, _: AttemptOutcome, _: impl Now) -> Option<Change> {
        self.0 += cost;
        None
    }
}

struct Shared {
    queue: Queue<Places>,
    within: AtomicU32,
    places: u32,
}

impl Shared {
    fn new(places: u32) -> Arc<Self> {
        clock::set(100 * SECOND);
        Arc::new(Self {
            queue: Queue::new(Places(places)),
            within: AtomicU32::new(0),
            places,
        })
    }

    /// Makes an attempt, from its permit to its end.
    async fn attempt(&self, cost: u32) {
        let mut permit = self.queue.enter(cost);
        poll_fn(
            |context| match self.queue.poll(&mut permit, context.waker()) {
                Admission::Admitted => Poll::Ready(()),
                Admission::Wait { .. } => Poll::Pending,
                Admission::Rejected | Admission::QueueFull => panic!("it is in the queue"),
            },
        )
        .await;
        let within = self.within.fetch_add(cost, SeqCst) + cost;
        assert!(within <= self.places);
        yield_now().await;
        self.within.fetch_sub(cost, SeqCst);
        self.queue.leave(permit, AttemptOutcome::Success);
    }

    /// Enters an attempt that is dropped after it has waited, or after its turn but before its start.
    async fn dropped(&self, cost: u32) {
        let mut permit: Permit = self.queue.enter(cost);
        poll_fn(|context| {
            let _ = self.queue.poll(&mut permit, context.waker());
            Poll::Ready(())
        })
        .await;
        yield_now().await;
        self.queue.leave(permit, AttemptOutcome::NotBegun);
    }
}

/// Attempts with these costs, at the same time as some that are dropped.
fn all_get_a_turn(places: u32, dropped: usize, costs: &'static [u32]) {
    many(move || {
        let shared = Shared::new(places);
        let dropped = (0..dropped).map(|_| {
            let shared = Arc::clone(&shared);
            spawn(async move { shared.dropped(1).await })
        });
        let attempts = costs.iter().map(|cost| {
            let shared = Arc::clone(&shared);
            spawn(async move { shared.attempt(*cost).await })
        });
        let tasks: Vec<_> = dropped.chain(attempts).collect();
        for task in tasks {
            block_on(task).unwrap();
        }
        assert_eq!(shared.queue.lock().waiting(), 0);
        assert_eq!(shared.queue.lock().gate.0, places);
    });
}

#[test]
fn every_waiter_gets_a_turn_within_the_limit() {
    all_get_a_turn(1, 0, &[1, 1, 1]);
}

#[test]
fn different_costs_do_not_starve_waiters() {
    all_get_a_turn(3, 0, &[3, 1, 2, 1]);
}

#[test]
fn a_dropped_waiter_passes_its_turn_on() {
    all_get_a_turn(1, 2, &[1, 1]);
}

#[test]
fn concurrent_corrections_count_time_once() {
    many(|| {
        clock::set(100 * SECOND);
        let limiter: RateLimiter<Quota> = RateLimiter::fixed(1, SECOND).burst(100);
        // Uses up the whole burst.
        limiter.settle(0, 100);
        let limiter = Arc::new(limiter);
        at_once(&limiter, 4, |limiter, number| {
            clock::advance(5 * SECOND);
            match number % 2 {
                0 => limiter.settle(0, 0),
                _ => limiter.learn(|_| Some("100")),
            }
        });
        let available = limiter.available();
        assert!((available - 20.0).abs() < 1e-6, "{available}");
    });
}
