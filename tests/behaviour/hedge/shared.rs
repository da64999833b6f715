//! Shared protections: each hedged attempt has its own payment and permit.

use AttemptOutcome::{Dropped, NotBegun, Success};
use retry_runtime::own_loop::{Attempts, Site};
use support::held_permit::{FAILED, failed, hinted};
use support::limiters::at_a_time;
use support::prelude::*;
use support::turns::Turns;

use crate::hedge::protections::{MANY, Slots};
use crate::hedge::{Server, answer, fails, millis, panics_after, seen};

asks!(fn paid(budget: &Budget), hedge = "200ms", max = 3, jitter = "none", budget = budget);

#[tokio::test(start_paused = true)]
async fn each_hedge_is_paid_for_and_never_refunded() {
    for (script, left) in [
        (vec![answer(100)], 500.0),
        (vec![answer(900), answer(10)], 487.0),
        (vec![answer(250), answer(900)], 487.0),
        (vec![answer(900), answer(900), answer(10)], 473.0),
        // A final response also shows that the server is healthy.
        (vec![answer(300), fails(10, STOP)], 487.0),
        // A retry, whose cost is refunded, and a hedge.
        (vec![fails(0, TRANSIENT), answer(900), answer(10)], 486.0),
    ] {
        let (server, budget) = (Server::new(script), Budget::standard());
        let _ = paid(&server, &budget).await;
        assert_eq!(budget.available(), left, "{server:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_money_there_is_none() {
    asks!(fn call(budget: &Turns), hedge = "200ms", budget = budget);

    let (server, budget) = (Server::new([answer(900)]), Turns::new(0));
    assert_eq!(call(&server, &budget).await, Ok(1));
    assert_eq!(server.seen(), seen(&[0], 0, 900));
    // It is not asked again before the attempt is over.
    let notes = ["withdraw transient", "called", "succeeded"];
    assert_eq!(budget.notes(), notes);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_never_starts_is_not_paid_for() {
    asks!(fn call(budget: &Budget), hedge = "200ms", budget = budget,
    observe = |event: &Event<'_>| {
        assert!(!matches!(event.data, EventData::Hedging { .. }), "hedging");
    });

    let (server, budget) = (Server::new([answer(900)]), Budget::standard());
    panics_after(&[200], call(&server, &budget)).await;
    assert_eq!(budget.available(), 500.0);
    assert_eq!(server.seen(), seen(&[0], 1, 200));
}

asks!(fn noted(notes: &Slots), hedge = "200ms", max = 3, jitter = "none", breaker = notes);

#[tokio::test(start_paused = true)]
async fn each_hedge_has_its_own_permit_and_releases_it_once() {
    for (script, hedges, outcomes) in rows! {
        vec![answer(10)], 0, vec![(1, Success)];
        vec![answer(900), answer(900), answer(10)], 2, vec![(1, Dropped), (2, Dropped), (3, Success)];
        vec![fails(300, TRANSIENT), fails(900, THROTTLED), answer(50)], 2,
            vec![(1, FAILED), (2, Dropped), (3, Success)];
        vec![fails(300, STOP), answer(900)], 1, vec![(1, Success), (2, Dropped)];
        vec![fails(500, TRANSIENT), fails(900, TRANSIENT), fails(10, STOP)], 2,
            vec![(1, Dropped), (2, Dropped), (3, Success)];
    } {
        let (server, notes) = (Server::new(script), Slots::new(MANY));
        let _ = noted(&server, &notes).await;
        assert_eq!(
            (notes.hedges.get(), notes.ends()),
            (hedges, outcomes),
            "{server:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_calls_give_all_passes_back() {
    for after in [0, 100, 200, 300, 500] {
        let (server, notes) = (Server::new(vec![answer(900); 4]), Slots::new(MANY));
        let limited = timeout(millis(after), noted(&server, &notes));
        assert!(limited.await.is_err());
        assert!(notes.ends().iter().all(|(_, end)| *end == Dropped));
        assert_eq!(server.seen().dropped, notes.entered.get());
    }
}

#[tokio::test(start_paused = true)]
async fn panics_give_all_passes_back() {
    #[retry(hedge = "200ms", breaker = notes)]
    async fn panics(server: &Server, notes: &Slots) -> Result<usize, Failure> {
        let number = server.ask().await?;
        panic!("attempt {number}")
    }

    let (server, notes) = (Server::new([answer(900), answer(50)]), Slots::new(MANY));
    panics_after(&[200, 50], panics(&server, &notes)).await;
    assert_eq!(notes.ends(), [(1, Dropped), (2, Dropped)]);
    assert_eq!(server.seen().dropped, 1);
}

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_during_a_trial_call() {
    asks!(fn call(breaker: &Breaker), hedge = "200ms", max = 3, jitter = "none", breaker = breaker, name = "call");

    let breaker = Breaker::new().consecutive_failures(1).trial_calls(9);
    breaker.fail();
    assert_eq!(breaker.state(), BreakerState::Open);
    sleep(millis(5_000)).await;
    let server = Server::new([answer(900)]);
    assert_eq!(call(&server, &breaker).await, Ok(1));
    assert_eq!(server.seen(), seen(&[0], 0, 900));
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_next_to_the_trial_call_of_a_breaker_that_calls_wait_for() {
    asks!(fn call(breaker: &Breaker), hedge = "200ms", max = 3, jitter = "none", limiter = breaker, name = "call");

    let breaker = Breaker::new().consecutive_failures(1).trial_calls(9);
    breaker.fail();
    let server = Server::new([answer(900)]);
    assert_eq!(call(&server, &breaker).await, Ok(1));
    assert_eq!(server.seen(), seen(&[5_000], 0, 5_900));
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_hedges_failure_counts_under_its_own_number() {
    asks!(fn call(breaker: &Breaker), hedge = "200ms", max = 3, jitter = "none", breaker = breaker, name = "call");

    let recording = testing::record();
    let breaker = Breaker::new().consecutive_failures(1);
    let server = Server::new([fails(250, TRANSIENT), answer(400)]);
    assert_eq!(call(&server, &breaker).await, Ok(2));
    // The breaker is open since 250 ms: no attempt starts at 400 ms, and the response is too late to count.
    assert_eq!(server.seen(), seen(&[0, 200], 0, 600));
    let expected = [
        "hedging call attempt=2 max=3 delay=200ms",
        "breaker opened call attempt=1 delay=5s error=transient reason=consecutive failures",
        "attempt failed call attempt=1 error=transient reason=transient",
        "succeeded call attempt=2 max=3",
    ];
    assert_eq!(recording.lines(), expected);
}

asks!(fn limited(slots: &Slots, notes: &Slots, budget: &Budget),
    hedge = "200ms", max = 9, jitter = "none", limiter = slots, breaker = notes, budget = budget);

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_if_it_would_have_to_wait() {
    const END: AttemptOutcome = failed(Kind::Throttled);
    for (slots, budget, script, began, ends) in rows! {
        1, Budget::standard(), vec![answer(900)], vec![0],
            vec![(1, Success), (2, NotBegun)];
        2, Budget::standard(), vec![answer(900), answer(500)], vec![0, 200],
            vec![(1, Dropped), (2, Success), (3, NotBegun)];
        // Its turn had come, but the budget doesn't pay.
        MANY, Budget::standard().capacity(0), vec![answer(900)], vec![0],
            vec![(1, Success), (2, NotBegun)];
        MANY, Budget::standard(), vec![fails(300, THROTTLED), answer(900)], vec![0, 200],
            vec![(1, END), (2, Success)];
        MANY, Budget::standard(), vec![answer(900), fails(50, STOP)], vec![0, 200],
            vec![(1, Dropped), (2, Success)];
    } {
        let (server, limiter) = (Server::new(script), Slots::new(slots));
        let notes = Slots::new(MANY);
        let _ = limited(&server, &limiter, &notes, &budget).await;
        assert_eq!(server.seen().began, began);
        assert_eq!(limiter.ends(), ends, "{server:?}");
        assert_eq!((limiter.free.get(), notes.free.get()), (slots, MANY));
        notes.ends();
    }
}

asks!(fn paced(limiter: &ConcurrencyLimiter), hedge = "200ms", max = 3, jitter = "none", limiter = limiter);

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_while_the_limiter_is_paused() {
    let limiter = ConcurrencyLimiter::aimd();
    let server = Server::new([answer(900)]);
    let throttled = async {
        let mut held = HeldPermit::new(&limiter);
        sleep(millis(100)).await;
        held.record(hinted(Kind::Throttled, millis(5_000)));
    };
    let (outcome, ()) = tokio::join!(paced(&server, &limiter), throttled);
    assert_eq!(outcome, Ok(1));
    assert_eq!(server.seen(), seen(&[0], 0, 900));
}

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_before_waiting_attempts() {
    let limiter = at_a_time(3);
    for (cost, began) in [(0, vec![0, 200]), (3, vec![0])] {
        let server = Server::new([answer(300), answer(900)]);
        let other = async {
            sleep(millis(100)).await;
            let policy = Policy::none();
            let site = Site::new(&policy, "other");
            let mut attempts = Attempts::new(&site).limiter(&limiter).cost(cost);
            attempts.first().await.unwrap();
            attempts.ok(());
        };
        let (outcome, ()) = tokio::join!(paced(&server, &limiter), other);
        assert_eq!(outcome, Ok(1));
        assert_eq!(server.seen().began, began, "{cost}");
    }
}
