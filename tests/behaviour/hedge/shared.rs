//! Shared protections: each hedged attempt has its own payment, permit and hint.

use AttemptOutcome::{Dropped, NotBegun, Success};
use retry_protections::Latency;
use retry_runtime::own_loop::{Attempts, Site};
use retry_runtime::seam::AdmissionState;
use support::dropped::{Alive, OnDrop, dropped_after};
use support::held_permit::{FAILED, failed, hinted};
use support::limiters::at_a_time;
use support::prelude::*;
use support::turns::Turns;

use crate::hedge::{Server, answer, fails, millis, panics_after, seen};

/// More than any test takes.
const MANY: usize = 99;

/// Lets a number of attempts run at a time, and keeps how each ended, by the number of its permit.
#[derive(Debug)]
struct Slots {
    free: Cell<usize>,
    entered: Cell<u64>,
    hedges: Cell<u64>,
    turns: RefCell<Vec<u64>>,
    ended: RefCell<Vec<(u64, AttemptOutcome)>>,
}

impl Slots {
    fn new(slots: usize) -> Self {
        Self {
            free: Cell::new(slots),
            entered: Cell::default(),
            hedges: Cell::default(),
            turns: RefCell::default(),
            ended: RefCell::default(),
        }
    }

    /// The outcomes of all permits, none of which is lost.
    fn ends(&self) -> Vec<(u64, AttemptOutcome)> {
        let mut ends = self.ended.take();
        ends.sort_by_key(|(number, _)| *number);
        assert_eq!(ends.len() as u64, self.entered.get());
        ends
    }
}

impl AdmissionControl for Slots {
    fn enter(&self, cost: u32) -> Permit {
        self.entered.set(self.entered.get() + 1);
        Permit::new(self.entered.get(), cost)
    }

    fn poll(&self, ticket: &mut Permit, _: &Waker) -> Admission {
        let Some(left) = self.free.get().checked_sub(1) else {
            return Admission::Wait {
                ahead: 0,
                at_least: None,
            };
        };
        self.free.set(left);
        self.turns.borrow_mut().push(ticket.number());
        Admission::Admitted
    }

    fn leave(&self, ticket: Permit, end: AttemptOutcome) -> Changes {
        if self.turns.borrow().contains(&ticket.number()) {
            self.free.set(self.free.get() + 1);
        }
        self.ended.borrow_mut().push((ticket.number(), end));
        [None; 2]
    }

    /// Called before each hedged attempt.
    fn state(&self) -> AdmissionState {
        self.hedges.set(self.hedges.get() + 1);
        AdmissionState::default()
    }
}

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
async fn an_attempt_whose_observer_panics_has_not_started() {
    asks!(fn call(slots: &Slots, budget: &Budget, panics: fn(&EventData<'_>) -> bool),
    hedge = "200ms", limiter = slots, budget = budget,
    observe = |event: &Event<'_>| assert!(event.attempt != 2 || !panics(&event.data)));

    let panics: [fn(&EventData<'_>) -> bool; 2] = [
        |event| matches!(event, EventData::Hedging { .. }),
        |event| matches!(event, EventData::Started),
    ];
    for panics in panics {
        let (server, slots) = (Server::new([answer(900)]), Slots::new(MANY));
        let budget = Budget::standard();
        panics_after(&[200], call(&server, &slots, &budget, panics)).await;
        assert_eq!(budget.to_string(), "500 of 500 tokens");
        assert_eq!(server.seen(), seen(&[0], 1, 200));
        assert_eq!(slots.ends(), [(1, Dropped), (2, NotBegun)]);
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
    asks!(fn fails_at_once(breaker: &Breaker), hedge = "200ms", breaker = breaker);
    asks!(fn waits(breaker: &Breaker), hedge = "200ms", limiter = breaker);

    for is_patient in [false, true] {
        let breaker = Breaker::new().consecutive_failures(1).trial_calls(9);
        breaker.fail();
        assert_eq!(breaker.state(), BreakerState::Open);
        let server = Server::new([answer(900)]);
        if is_patient {
            assert_eq!(waits(&server, &breaker).await, Ok(1));
        } else {
            sleep(millis(5_000)).await;
            assert_eq!(fails_at_once(&server, &breaker).await, Ok(1));
        }
        assert_eq!(server.seen(), seen(&[5_000], 0, 5_900));
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
    }
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

const HINT: Duration = Duration::from_secs(90);

#[tokio::test(start_paused = true)]
async fn breaker_and_limiter_record_each_attempt_separately() {
    asks!(fn call(breaker: &Slots, limiter: &Slots),
        hedge = "200ms", max = 3, jitter = "none", breaker = breaker, limiter = limiter);

    let (transient, throttled) = (Kind::Transient, Kind::Throttled);
    for (first, second, ends) in rows! {
        throttled_for(HINT), TRANSIENT, [hinted(throttled, HINT), failed(transient)];
        Failure(Verdict::TRANSIENT.after(HINT)), THROTTLED, [hinted(transient, HINT), failed(throttled)];
        THROTTLED, Failure(Verdict::TRANSIENT.after(HINT)), [failed(throttled), hinted(transient, HINT)];
    } {
        let server = Server::new([fails(300, first), fails(200, second), answer(10)]);
        let protections = [Slots::new(MANY), Slots::new(MANY)];
        let [breaker, limiter] = &protections;
        assert_eq!(call(&server, breaker, limiter).await, Ok(3));
        // The call itself waits as long as it was asked to in any of them.
        assert_eq!(server.seen().began, [0, 200, 90_400]);
        for protection in &protections {
            let expected = [(1, ends[0]), (2, ends[1]), (3, Success)];
            assert_eq!(protection.ends(), expected);
        }
    }
}

/// The values that are alive, and those that were created.
#[derive(Debug, Default)]
struct World {
    alive: Cell<i32>,
    begun: Cell<u32>,
    most: Cell<i32>,
}

/// An hour is a timeout, which never passes; what else is slept takes two polls.
async fn pause(duration: Duration) {
    if duration == Duration::from_hours(1) {
        pending::<()>().await;
    }
    yield_now().await;
    yield_now().await;
}

#[retry(
    hedge = latency.quantile(0.5),
    max = 4,
    backoff = "fixed",
    timeout = "1h",
    timer = pause,
    attempt = attempt,
    budget = purse,
    breaker = breaker,
)]
async fn call(
    world: &World,
    purse: &Turns,
    breaker: &Breaker,
    latency: &Latency,
) -> Result<u32, Failure> {
    let _alive = Alive::new(&world.alive);
    world.begun.set(world.begun.get() + 1);
    world.most.set(world.most.get().max(world.alive.get()));
    let number = attempt.number();
    assert_eq!(number, world.begun.get());
    for _ in 0..7 {
        yield_now().await;
        assert_eq!(attempt.number(), number);
    }
    if number == 5 {
        Ok(number)
    } else {
        Err(TRANSIENT)
    }
}

#[test]
fn a_call_dropped_at_any_await_releases_everything() {
    for polls in 0.. {
        let (world, breaker, latency) = (World::default(), Breaker::new(), Latency::new());
        for _ in 0..100 {
            latency.record(Duration::from_secs(1));
        }
        let purse = Turns::new(99);
        let outcome = dropped_after(polls, call(&world, &purse, &breaker, &latency));
        assert_eq!(world.alive.get(), 0, "after {polls} polls");
        // The first attempt is free. The payment for one that never started was refunded.
        let retries = world.begun.get().saturating_sub(1);
        assert_eq!(99 - purse.left(), retries, "after {polls} polls");
        if let Some(outcome) = outcome {
            assert_eq!((outcome, world.begun.get()), (Ok(5), 5));
            assert!(world.most.get() > 2);
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn places_of_trials_come_back() {
    #[retry(hedge = "1s", timer = pause, breaker = breaker)]
    async fn call(breaker: &Breaker) -> Result<u32, Failure> {
        pending().await
    }

    let breaker = Breaker::new().consecutive_failures(1).open_for(millis(1));
    breaker.fail();
    sleep(millis(1)).await;
    for _ in 0..9 {
        assert!(dropped_after(9, call(&breaker)).is_none());
    }
}
