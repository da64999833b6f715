//! The start and the end of hedged attempts.

use support::dropped::OnDrop;
use support::prelude::*;

use crate::hedge::protections::Slots;
use crate::hedge::{Server, answer, fails, millis, panics_after, seen};

/// A custom breaker without support for hedging: each admission makes it half-open.
#[derive(Default)]
struct Trials(Cell<u64>);

impl AdmissionControl for Trials {
    fn enter(&self, cost: u32) -> Permit {
        self.0.set(self.0.get() + 1);
        Permit::half_opening(self.0.get(), cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Admitted
    }
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_turns_half_open_is_reported() {
    asks!(fn call(trials: &Trials, observed: &RefCell<Vec<u32>>), hedge = "200ms", max = 1,
    breaker = trials, name = "call", observe = |event: &Event<'_>| {
        if let EventData::BreakerHalfOpened = event.data {
            observed.borrow_mut().push(event.attempt);
        }
    });

    let recording = testing::record();
    let (server, observed) = (Server::new([answer(900), answer(100)]), RefCell::default());
    assert_eq!(call(&server, &Trials::default(), &observed).await, Ok(2));
    assert_eq!(observed.into_inner(), [1, 2]);
    let expected = [
        "breaker half open call attempt=1 reason=open for long enough",
        "breaker half open call attempt=2 reason=open for long enough",
        "hedging call attempt=2 max=1 delay=200ms",
        "succeeded call attempt=2 max=1",
    ];
    assert_eq!(recording.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_whose_observer_panics_has_not_started() {
    asks!(fn call(slots: &Slots, budget: &Budget), hedge = "200ms", limiter = slots, budget = budget,
    observe = |event: &Event<'_>| {
        assert!(event.attempt != 2 || !matches!(event.data, EventData::Started), "started");
    });

    let (server, slots) = (Server::new([answer(900)]), Slots::new(9));
    let budget = Budget::standard();
    panics_after(&[200], call(&server, &slots, &budget)).await;
    assert_eq!(budget.to_string(), "500 of 500 tokens");
    assert_eq!(server.seen(), seen(&[0], 1, 200));
    let expected = [(1, AttemptOutcome::Dropped), (2, AttemptOutcome::NotBegun)];
    assert_eq!(slots.ends(), expected);
}

#[tokio::test(start_paused = true)]
async fn slots_are_released_once_their_attempts_are_gone() {
    #[retry(hedge = "200ms", max = 2, jitter = "none", limiter = limiter)]
    async fn call(
        server: &Server,
        limiter: &ConcurrencyLimiter,
        gone: &RefCell<Vec<u64>>,
    ) -> Result<usize, Failure> {
        let _request = OnDrop(|| gone.borrow_mut().push(limiter.running()));
        server.ask().await
    }

    for (script, after, running) in rows! {
        // The second wins.
        vec![answer(900), answer(100)], 9_000, vec![2, 2];
        vec![answer(900), answer(900), answer(100)], 9_000, vec![3, 3, 3];
        vec![answer(900), fails(100, TRANSIENT), answer(100)], 9_000, vec![2, 2, 2];
        // The call is dropped.
        vec![answer(900)], 100, vec![1];
        vec![answer(900), answer(900)], 300, vec![2, 2];
    } {
        let limiter = ConcurrencyLimiter::aimd().start(9);
        let (server, gone) = (Server::new(script), RefCell::default());
        let _ = timeout(millis(after), call(&server, &limiter, &gone)).await;
        assert_eq!(gone.into_inner(), running, "{server:?}");
        assert_eq!(limiter.running(), 0);
    }
}
