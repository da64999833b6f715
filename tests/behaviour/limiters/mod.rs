//! `RateLimiter` and `ConcurrencyLimiter` with single attempts, under a paused clock.

// Tokens and rates are exact.
#![allow(clippy::float_cmp)]

mod adaptive;
mod concurrency;
mod governor;
mod keyed;
mod leased;
mod live;
mod model_api;
mod patient;
mod quota;

use std::future::poll_fn;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Wake;

use support::held_permit::{failed, hinted};
use support::prelude::*;

const TRANSIENT: AttemptOutcome = failed(Kind::Transient);
const THROTTLED: AttemptOutcome = failed(Kind::Throttled);
const TIMEOUT: AttemptOutcome = failed(Kind::Timeout);

/// Refused, with the wait that the server asks for.
const fn refused(hint: Duration) -> AttemptOutcome {
    hinted(Kind::Throttled, hint)
}

/// Returns an attempt with this cost, once its turn has come.
async fn turn<L: AdmissionControl>(limiter: &L, cost: u32) -> Permit {
    let mut ticket = limiter.enter(cost);
    let mut sleeping = None;
    poll_fn(|context| {
        loop {
            let at_least = match limiter.poll(&mut ticket, context.waker()) {
                Admission::Admitted => return Poll::Ready(()),
                Admission::Wait { at_least, .. } => at_least,
                turn => panic!("{turn:?}"),
            };
            let Some(at_least) = at_least else {
                return Poll::Pending;
            };
            let sleeping = sleeping.insert(Box::pin(sleep(at_least)));
            if sleeping.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
    ticket
}

/// An attempt of this cost that ends at once.
async fn ended<L: AdmissionControl>(limiter: &L, cost: u32, outcome: AttemptOutcome) -> Changes {
    let ticket = turn(limiter, cost).await;
    limiter.leave(ticket, outcome)
}

/// An attempt of cost 1 that is through at once.
async fn succeed<L: AdmissionControl>(limiter: &L) {
    ended(limiter, 1, AttemptOutcome::Success).await;
}

/// Returns the start times, in milliseconds, of attempts with these costs that all enter now and succeed at once.
async fn begins<L: AdmissionControl>(limiter: &L, costs: &[u32]) -> Vec<u128> {
    let start = Instant::now();
    let mut begins = Vec::new();
    for cost in costs {
        let ticket = turn(limiter, *cost).await;
        begins.push(start.elapsed().as_millis());
        limiter.leave(ticket, AttemptOutcome::Success);
    }
    begins
}

#[tokio::test(start_paused = true)]
async fn reading_a_limiter_does_not_wake_waiters() {
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// Enters an attempt that starts, and one that waits.
    fn enter(limiter: &impl AdmissionControl, woken: &Arc<Woken>) {
        for begins in [true, false] {
            let mut ticket = limiter.enter(1);
            let turn = limiter.poll(&mut ticket, &Waker::from(Arc::clone(woken)));
            assert_eq!(turn == Admission::Admitted, begins);
        }
    }

    let woken = Arc::new(Woken(AtomicU32::new(0)));
    let rate: RateLimiter<Quota> = RateLimiter::fixed(90, secs(60));
    enter(&rate, &woken);
    assert_eq!((rate.available(), rate.waiting()), (0.0, 1));
    assert_eq!(rate.to_string(), "1.5 per second, 1 waiting");
    let places = ConcurrencyLimiter::aimd().start(1);
    enter(&places, &woken);
    assert_eq!((places.limit(), places.running()), (1, 1));
    assert_eq!(places.to_string(), "1 of 1 running, 1 waiting");
    assert_eq!(woken.0.load(SeqCst), 0);
    // A correction does.
    rate.settle(1, 0);
    assert_eq!(woken.0.load(SeqCst), 1);
}
