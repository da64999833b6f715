//! The key `breaker`: the breaker is checked before each attempt, and records its outcome.

use retry_runtime::Cancelled;
use support::dropped::dropped_after;
use support::held_permit::{CLOSED, Outcomes, failed};
use support::prelude::*;

/// A breaker that opens at the second failure in a row.
const fn opens_after_two_failures() -> Breaker {
    Breaker::new().consecutive_failures(2)
}

/// Like `opens_after_two_failures`, but open.
pub(super) fn open() -> Breaker {
    let breaker = opens_after_two_failures();
    breaker.fail();
    breaker.fail();
    breaker
}

scripted! { #[retry(max = 5, jitter = "none", name = "call", breaker = breaker)] async fn call(breaker: &Breaker); }

/// Each call fails once and then succeeds, so that no two failures are consecutive.
#[tokio::test(start_paused = true)]
async fn a_success_resets_consecutive_failures() {
    let [of_function, of_chain, of_batch] = [(); 3].map(|()| opens_after_two_failures());
    let script = || RefCell::new(Script::new([TRANSIENT]));
    for _ in 0..5 {
        let called = call(&of_function, &mut script().into_inner()).await;
        assert_eq!(called, Ok(2), "function");
        let failing = script();
        let chain = Policy::new().breaker(&of_chain);
        let called = chain.call(async || failing.borrow_mut().next());
        assert_eq!(called.await, Ok(2), "chain");
        let failing = script();
        let send = async |_: Vec<u32>| Ok(vec![failing.borrow_mut().next()]);
        let sent = retry_each(Policy::new().breaker(&of_batch), [1], send).await;
        assert!(sent[0].is_ok(), "batch");
    }
}

/// The failure isn't worth a retry, but the server is down.
#[tokio::test(start_paused = true)]
async fn non_retried_failures_still_count_towards_the_breaker() {
    for (verdict, state) in [
        (Verdict::TRANSIENT.once(), BreakerState::Open),
        (Verdict::TIMEOUT.once(), BreakerState::Open),
        (Verdict::THROTTLED.once(), BreakerState::Closed),
        (Verdict::STOP.once(), BreakerState::Closed),
        (Verdict::STOP, BreakerState::Closed),
    ] {
        let breaker = Breaker::new().count_window(1);
        let ran = run!([Failure(verdict)], |script| call(&breaker, script).await);
        assert_eq!(ran, (Err(Failure(verdict)), 1));
        assert_eq!(breaker.state(), state, "{verdict:?}");
    }
}

#[test]
fn the_max_is_reported_for_every_form_of_max() {
    scripted! {
        #[retry(max = max, breaker = breaker, name = "call")]
        fn expression(breaker: &Breaker, max: u32) = Ok(());
        #[retry(policy = Policy::new().max(max), breaker = breaker, name = "call")]
        fn policy(breaker: &Breaker, max: u32) = Ok(());
        #[retry(max = 7, throttled(max = 9), breaker = breaker, name = "call")]
        fn section(breaker: &Breaker, _max: u32) = Ok(());
        #[retry(max = max, breaker = breaker, name = "call", observe = |_| ())]
        fn observed(breaker: &Breaker, max: u32) = Ok(());
    }

    for call in [expression, policy, section, observed] {
        let recording = testing::record();
        call(&open(), 7).unwrap_err();
        let line = "gave up call attempt=0 max=7 error=stop reason=rejected";
        assert_eq!(recording.lines(), [line]);
    }
}

/// There was no response, even if `on` returns another verdict.
#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_timed_out() {
    scripted! {
        #[retry(max = 1, timeout = "1s", breaker = breaker, budget = budget, on = |_| retries)]
        async fn call(breaker: &Outcomes, budget: &Budget, retries: bool) = pending().await;
    }

    for (retries, attempts, left) in [(false, 1, 486), (true, 2, 472)] {
        let (breaker, budget) = (Outcomes::default(), Budget::standard());
        assert!(budget.withdraw(Kind::Transient));
        call(&breaker, &budget, retries).await.unwrap_err();
        assert_eq!(breaker.take(), vec![failed(Kind::Timeout); attempts]);
        assert_eq!(budget.to_string(), format!("{left} of 500 tokens"));
    }
}

/// A boxed error that no type is known of, from an attempt or a chain.
#[tokio::test]
async fn an_error_of_an_unknown_type_is_ignored() {
    scripted! {
        #[retry(max = 1, backoff = "none", breaker = breaker, budget = budget)]
        fn call(breaker: &Outcomes, budget: &Budget) -> anyhow::Result<()> = Err(anyhow::anyhow!("busy"));
        #[retry(max = 1, backoff = "none", breaker = breaker, budget = budget)]
        fn known(breaker: &Outcomes, budget: &Budget) -> anyhow::Result<()>
            = Err(io::Error::from(io::ErrorKind::NotFound).into());
    }

    let (breaker, budget) = (Outcomes::default(), Budget::standard());
    assert!(budget.withdraw(Kind::Transient));
    call(&breaker, &budget).unwrap_err();
    let chain = Policy::new().budget(&budget).breaker(&breaker);
    let chained = chain.call(async || Err::<(), _>(anyhow::anyhow!("busy")));
    chained.await.unwrap_err();
    assert_eq!(breaker.take(), [AttemptOutcome::Ignored; 2]);
    assert_eq!(budget.to_string(), "486 of 500 tokens");
    // A known response counts as one.
    known(&breaker, &budget).unwrap_err();
    assert_eq!(breaker.take(), [AttemptOutcome::Success]);
    assert_eq!(budget.to_string(), "487 of 500 tokens");
}

/// A rejection or a cancellation of a call within the attempt.
#[test]
fn a_rejection_of_an_inner_call_is_ignored() {
    const REJECTED: Rejected = Rejected::new(RejectedBy::Breaker);
    type World = (Outcomes, Budget, RateLimiter<Quota>);

    #[derive(Debug, Classify)]
    enum Own {
        #[classify(transparent)]
        Rejected(Rejected),
    }
    impl From<Rejected> for Own {
        fn from(rejected: Rejected) -> Self {
            Self::Rejected(rejected)
        }
    }

    #[retry(max = 1, backoff = "none", breaker = &world.0, budget = &world.1, limiter = &world.2)]
    fn call<E: Classify + From<Rejected>>(world: &World, fail: fn() -> E) -> Result<(), E> {
        Err(fail())
    }

    let limiter = RateLimiter::fixed(1, secs(60)).burst(5);
    let world = (Outcomes::default(), Budget::standard(), limiter);
    let (breaker, budget, limiter) = &world;
    assert!(budget.withdraw(Kind::Transient));
    let recording = testing::record();
    call::<Own>(&world, || REJECTED.into()).unwrap_err();
    call::<io::Error>(&world, || REJECTED.into()).unwrap_err();
    call::<anyhow::Error>(&world, || REJECTED.into()).unwrap_err();
    assert!(limiter.available() > 4.5, "nothing was sent");
    assert_eq!(breaker.take(), [AttemptOutcome::NotBegun; 3]);
    call::<io::Error>(&world, || Cancelled::new().into()).unwrap_err();
    assert!((3.5..4.5).contains(&limiter.available()));
    assert_eq!(breaker.take(), [AttemptOutcome::Ignored]);
    assert_eq!(budget.to_string(), "486 of 500 tokens");
    let lines = recording.lines();
    let explains = lines.iter().any(|line| line.contains("known"));
    assert!(!explains, "{lines:?}");
}

/// The outer call's trial is not a response: it doesn't close the breaker, and leaves a slot for the inner call.
#[tokio::test(start_paused = true)]
async fn layers_that_share_a_breaker_close_it_only_after_a_request() {
    type Sent = Cell<u32>;

    scripted! {
        #[retry(max = 0, breaker = breaker)]
        async fn inner(breaker: &Breaker, sent: &Sent) -> io::Result<u32> = Ok(sent.replace(sent.get() + 1));
        #[retry(max = 0, breaker = breaker)]
        async fn outer(breaker: &Breaker, sent: &Sent) -> io::Result<u32> = inner(breaker, sent).await;
        #[retry(max = 0, limiter = breaker)]
        async fn outer_that_waits(breaker: &Breaker, sent: &Sent) -> io::Result<u32> = inner(breaker, sent).await;
    }

    for waits in [false, true] {
        let (breaker, sent) = (open(), Cell::new(0));
        sleep(secs(5)).await;
        let call = async || {
            if waits {
                outer_that_waits(&breaker, &sent).await
            } else {
                outer(&breaker, &sent).await
            }
        };
        call().await.unwrap_err();
        assert_eq!((breaker.state(), sent.get()), (BreakerState::HalfOpen, 0));
        call().await.unwrap();
        assert_eq!((breaker.state(), sent.get()), (BreakerState::Closed, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn endings_contain_the_reason() {
    scripted! {
        #[retry(max = 5, backoff = "none", breaker = breaker, give_up = |gave_up: GaveUp<Failure>| {
            reason.set(Some((gave_up.reason(), gave_up.attempts())));
            gave_up.into_error()
        })]
        fn shaped(breaker: &dyn AdmissionControl, reason: &Cell<Option<(Reason, u32)>>) = Err(TRANSIENT);
        #[retry(max = 5, breaker = breaker,
            fallback = async |gave_up: GaveUp<Failure>| Ok((gave_up.reason(), gave_up.attempts())))]
        async fn falls_back(breaker: &Breaker) -> Result<(Reason, u32), Failure> = Err(TRANSIENT);
    }

    let reason = Cell::new(None);
    let shaped = |breaker: Breaker| (shaped(&breaker, &reason), reason.take());
    assert_rows! {
        shaped(open()) => (Err(STOP), Some((Reason::Rejected, 0)));
        shaped(opens_after_two_failures()) => (Err(TRANSIENT), Some((Reason::Rejected, 2)));
        falls_back(&open()).await => Ok((Reason::Rejected, 0));
        falls_back(&opens_after_two_failures()).await => Ok((Reason::Rejected, 2));
    }
}

/// In a count window, the call that completes the window may succeed.
#[test]
fn a_success_that_opens_the_breaker_shows_no_error() {
    scripted! { #[retry(max = 0, breaker = breaker, name = "call")] fn call(breaker: &Breaker); }

    let recording = testing::record();
    let breaker = Breaker::new().count_window(2).ratio(0.5);
    let mut script = Script::new([TRANSIENT]);
    assert!(call(&breaker, &mut script).is_err());
    assert!(call(&breaker, &mut script).is_ok());
    let line = "breaker opened call attempt=1 delay=5s reason=failure ratio";
    assert_eq!(recording.lines()[1..], [line]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_request_a_permit() {
    scripted! {
        #[retry(max = 5, jitter = "none", breaker = breaker, cancel = token.cancelled(), name = "call")]
        async fn call(breaker: &Outcomes, token: &CancellationToken) = Err(TRANSIENT);
    }

    let recording = testing::record();
    let (breaker, token) = (Outcomes::default(), CancellationToken::new());
    let (outcome, ()) = tokio::join!(call(&breaker, &token), async { token.cancel() });
    assert_eq!((outcome, breaker.entered()), (Err(TRANSIENT), 1));
    assert_eq!(recording.reasons(), [Reason::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_counts_as_a_hung_server() {
    #[retry(max = 5, breaker = breaker)]
    async fn call(breaker: &Breaker, script: &mut Script) -> Result<usize, Failure> {
        sleep(secs(3)).await;
        script.next()
    }
    async fn is_dropped_after(limit: Duration, breaker: &Breaker) {
        let mut script = Script::new([]);
        let limited = timeout(limit, call(breaker, &mut script));
        assert!(limited.await.is_err());
    }

    for (breaker, limit, after_two) in rows! {
        opens_after_two_failures(), millis(2_999), BreakerState::Closed;
        opens_after_two_failures().hung_after(secs(0)), millis(2_999), BreakerState::Closed;
        opens_after_two_failures().hung_after(secs(2)), millis(1_999), BreakerState::Closed;
        opens_after_two_failures().hung_after(secs(2)), millis(2_000), BreakerState::Open;
    } {
        for _ in 0..2 {
            assert_eq!(breaker.state(), BreakerState::Closed, "{limit:?}");
            is_dropped_after(limit, &breaker).await;
        }
        assert_eq!(breaker.state(), after_two, "{limit:?}");
    }
    // An attempt that ended is not a hung attempt, even if it took long.
    let breaker = opens_after_two_failures()
        .hung_after(secs(2))
        .consecutive_failures(1);
    assert_eq!(call(&breaker, &mut Script::new([THROTTLED])).await, Ok(2));
    // A trial call that hangs is one that failed.
    let breaker = breaker.hung_after(secs(2));
    for _ in 0..2 {
        is_dropped_after(secs(2), &breaker).await;
        assert_eq!(breaker.state(), BreakerState::Open);
        advance(secs(5)).await;
    }
}

/// Half open, with one place.
async fn half_open() -> Breaker {
    let breaker = open();
    advance(secs(5)).await;
    breaker
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_releases_its_slot() {
    #[retry(max = 2, backoff = "none", breaker = breaker, timeout = "1h",
        timer = |_| async { yield_now().await; yield_now().await; }, on = |_| Verdict::THROTTLED,
        fallback = async |gave_up: GaveUp<Failure>| {
            yield_now().await;
            Err(gave_up.into_error())
        })]
    async fn call(breaker: &Breaker) -> Result<(), Failure> {
        yield_now().await;
        Err(THROTTLED)
    }

    for polls in 0.. {
        let breaker = half_open().await;
        let outcome = dropped_after(polls, call(&breaker));
        let mut permit = HeldPermit::admitted(&breaker).expect("the place is free");
        assert_eq!(permit.succeeded(), CLOSED, "{polls}");
        if let Some(outcome) = outcome {
            assert!(outcome.is_err() && polls > 5);
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_releases_its_slot() {
    scripted! {
        #[retry(breaker = breaker)] fn body(breaker: &Breaker) = panic!("the body");
        #[retry(breaker = breaker, on = |_| -> bool { panic!("the key") })] fn key(breaker: &Breaker) = Err(TRANSIENT);
    }

    let breaker = half_open().await;
    for call in [body, key] {
        let panicked = catch_unwind(AssertUnwindSafe(|| call(&breaker)));
        assert!(panicked.is_err());
        drop(HeldPermit::admitted(&breaker).expect("the place is free"));
    }
}

/// A server that fails every second request: retries get calls through, and a breaker at a half does not let them.
#[tokio::test(start_paused = true)]
async fn the_default_ratio_lets_retries_work() {
    #[retry(max = 3, backoff = "none", breaker = breaker)]
    fn call(breaker: &Breaker, random: &mut u64) -> Result<(), Failure> {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        if *random >> 63 == 0 {
            Ok(())
        } else {
            Err(TRANSIENT)
        }
    }

    // A minute with a thousand calls a second.
    let mut successes = Vec::new();
    for breaker in [Breaker::new(), Breaker::new().ratio(0.5)] {
        let (mut random, mut succeeded) = (7, 0);
        for _ in 0..60_000 {
            succeeded += u32::from(call(&breaker, &mut random).is_ok());
            advance(millis(1)).await;
        }
        successes.push(succeeded);
    }
    // 94 %, and 4 %.
    assert!((55_900..56_600).contains(&successes[0]), "{successes:?}");
    assert!((2_100..2_700).contains(&successes[1]), "{successes:?}");
}
