//! The key `breaker`: the breaker is checked before each attempt, and records its outcome, as the key `limiter` does.

use std::future::Future;
use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::Cancelled;
use support::held_permit::{FAILED, Outcomes, failed, hinted};
use support::limiters::at_a_time;
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
    let breaker = opens_after_two_failures();
    for _ in 0..5 {
        let mut script = Script::new([TRANSIENT]);
        assert_eq!(call(&breaker, &mut script).await, Ok(2));
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

#[test]
fn the_verdict_decides_what_is_recorded() {
    scripted! {
        #[retry(max = 9, backoff = "none", limiter = limiter, breaker = breaker)]
        fn retried(limiter: &Outcomes, breaker: &Outcomes);
        #[retry(max = 9, backoff = "none", breaker = breaker)] fn without_limiter(breaker: &Outcomes);
        #[retry(max = 0, limiter = limiter, breaker = breaker)]
        fn once(limiter: &Outcomes, breaker: &Outcomes);
        #[retry(enabled = false, limiter = limiter, breaker = breaker)]
        fn off(limiter: &Outcomes, breaker: &Outcomes);
        #[retry(policy = Policy::new().enabled(false), limiter = limiter, breaker = breaker)]
        fn off_by_policy(limiter: &Outcomes, breaker: &Outcomes);
    }

    let _skipped = testing::skip_sleeps();
    let steps = rows! {
        TRANSIENT, FAILED;
        TIMEOUT, failed(Kind::Timeout);
        THROTTLED, failed(Kind::Throttled);
        throttled_for(secs(1)), hinted(Kind::Throttled, secs(1));
        Failure(Verdict::INVALID), AttemptOutcome::Success;
        Failure(Verdict::TRANSIENT.after(secs(0))), hinted(Kind::Transient, secs(0));
        STOP, AttemptOutcome::Success;
    };
    let script = || Script::new(steps.iter().map(|(failure, _)| failure.clone()));
    let recorded = steps.each_ref().map(|(_, outcome)| *outcome);
    let [limiter, breaker, alone] = [(); 3].map(|()| Outcomes::default());
    retried(&limiter, &breaker, &mut script()).unwrap_err();
    without_limiter(&alone, &mut script()).unwrap_err();
    for outcomes in [&limiter, &breaker, &alone] {
        assert_eq!(outcomes.take(), recorded);
        assert_eq!(outcomes.entered(), 7);
    }
    for call in [once, off, off_by_policy] {
        call(&limiter, &breaker, &mut script()).unwrap_err();
        assert_eq!([limiter.take(), breaker.take()], [[FAILED]; 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_returned_value_is_a_success_with_any_other_keys() {
    scripted! {
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, until = |_| false)]
        async fn until(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, validate = |_| Err(TRANSIENT),
            cancel = pending())]
        async fn validated(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker,
            validate = |value| if *value > 2 { Ok(()) } else { Err(TRANSIENT) }, correct = |value, _| Ok(value + 1))]
        async fn corrected(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker,
            validate = |value| if *value > 2 { Ok(()) } else { Err(TRANSIENT) }, correct = |value, _| Ok(value + 1))]
        fn corrected_blocking(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
    }

    let (l, b) = &<(Outcomes, Outcomes)>::default();
    let seen = |outcome| (outcome, l.take(), b.take());
    let successes = |times| vec![AttemptOutcome::Success; times];
    let made = |outcome, attempts| (outcome, successes(attempts), successes(attempts));
    assert_rows! {
        seen(until(l, b).await) => made(Ok(1), 3);
        seen(validated(l, b).await) => made(Err(TRANSIENT), 3);
        // A correction is not an attempt.
        seen(corrected(l, b).await) => made(Ok(3), 1);
        seen(corrected_blocking(l, b)) => made(Ok(3), 1);
    }
}

/// Not a dropped attempt, whatever `on` returns, nor a boxed error that no type is known of.
#[tokio::test(start_paused = true)]
async fn only_a_known_response_counts_as_one() {
    scripted! {
        #[retry(max = 1, timeout = "1s", breaker = breaker, budget = budget, on = |_| false)]
        async fn dropped(breaker: &Outcomes, budget: &Budget) = pending().await;
        #[retry(max = 1, backoff = "none", breaker = breaker, budget = budget)]
        fn unknown(breaker: &Outcomes, budget: &Budget) -> anyhow::Result<()> = Err(anyhow::anyhow!("busy"));
        #[retry(max = 1, backoff = "none", breaker = breaker, budget = budget)]
        fn known(breaker: &Outcomes, budget: &Budget) -> anyhow::Result<()>
            = Err(io::Error::from(io::ErrorKind::NotFound).into());
    }

    let (breaker, budget) = (Outcomes::default(), Budget::standard());
    assert!(budget.withdraw(Kind::Transient));
    dropped(&breaker, &budget).await.unwrap_err();
    assert_eq!(breaker.take(), [failed(Kind::Timeout)]);
    unknown(&breaker, &budget).unwrap_err();
    let chain = Policy::new().budget(&budget).breaker(&breaker);
    let chained = chain.call(async || Err::<(), _>(anyhow::anyhow!("busy")));
    chained.await.unwrap_err();
    assert_eq!(breaker.take(), [AttemptOutcome::Ignored; 2]);
    assert_eq!(budget.to_string(), "486 of 500 tokens");
    known(&breaker, &budget).unwrap_err();
    assert_eq!(breaker.take(), [AttemptOutcome::Success]);
    assert_eq!(budget.to_string(), "487 of 500 tokens");
}

/// A rejection or a cancellation of a call within the attempt.
#[test]
fn a_rejection_of_an_inner_call_is_ignored() {
    const REJECTED: Rejected = Rejected::new(RejectedBy::Breaker);
    type World = (Outcomes, Budget, RateLimiter<Quota>);

    #[derive(Classify, Debug, thiserror::Error)]
    enum Own {
        #[error(transparent)]
        #[classify(transparent)]
        Rejected(#[from] Rejected),
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

#[tokio::test(start_paused = true)]
async fn a_panic_ends_an_attempt_as_dropped_and_releases_its_slot() {
    scripted! {
        #[retry(breaker = breaker, limiter = limiter)]
        fn body(breaker: &Breaker, limiter: &Outcomes) = panic!("the body");
        #[retry(breaker = breaker, limiter = limiter, on = |_| -> bool { panic!("the key") })]
        fn key(breaker: &Breaker, limiter: &Outcomes) = Err(TRANSIENT);
    }

    let (breaker, limiter) = (open(), Outcomes::default());
    // Half open, with one place.
    advance(secs(5)).await;
    for call in [body, key] {
        let panicked = catch_unwind(AssertUnwindSafe(|| call(&breaker, &limiter)));
        assert!(panicked.is_err());
        assert_eq!(limiter.take(), [AttemptOutcome::Dropped]);
        drop(HeldPermit::admitted(&breaker).expect("the place is free"));
    }
}

/// A client with a slow limiter, in shapes that the table in `forms` doesn't have.
#[derive(Clone)]
struct Client {
    limiter: Arc<ConcurrencyLimiter>,
    breaker: Arc<Outcomes>,
    attempts: Arc<AtomicU32>,
}

impl Client {
    /// Fails the first time.
    fn answer(&self) -> Result<u32, Failure> {
        assert_eq!(self.limiter.running(), 1);
        match self.attempts.fetch_add(1, SeqCst) {
            0 => Err(TRANSIENT),
            attempts => Ok(attempts + 1),
        }
    }
}

#[retry(backoff = "none", limiter = &self.limiter, breaker = &self.breaker)]
impl Client {
    fn future(&self) -> impl Future<Output = Result<u32, Failure>> {
        async { self.answer() }
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<u32, Failure>> + '_>> {
        Box::pin(async { self.answer() })
    }

    #[retry(limiter = Arc::clone(&self.limiter), breaker = Arc::clone(&self.breaker))]
    async fn mutable(&mut self) -> Result<u32, Failure> {
        self.answer()
    }
}

#[tokio::test(start_paused = true)]
async fn every_shape_waits_and_releases_its_slot_and_its_pass() {
    /// Holds the slot until the call waits for it.
    async fn check(shape: &str, call: impl AsyncFnOnce(Client) -> Result<u32, Failure>) {
        let client = Client {
            limiter: Arc::new(at_a_time(1)),
            breaker: Arc::default(),
            attempts: Arc::default(),
        };
        let held = HeldPermit::new(&client.limiter);
        let (outcome, ()) = tokio::join!(call(client.clone()), async {
            while client.limiter.waiting() == 0 {
                yield_now().await;
            }
            drop(held);
        });
        assert_eq!(outcome, Ok(2), "{shape}");
        let limiter = &client.limiter;
        assert_eq!((limiter.running(), limiter.waiting()), (0, 0), "{shape}");
        let expected = [FAILED, AttemptOutcome::Success];
        assert_eq!(client.breaker.take(), expected, "{shape}");
    }

    check("future", async |client| client.future().await).await;
    check("boxed", async |client| client.boxed().await).await;
    check("mutable", async |mut client| client.mutable().await).await;
}
