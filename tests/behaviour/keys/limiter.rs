//! The key `limiter`: waits, their order and length, and reports.

use std::future::Future;
use std::sync::atomic::Ordering::SeqCst;

use async_trait::async_trait;
use futures::future::{FutureExt, join, join_all};
use futures::{Stream, StreamExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use retry_runtime::seam::{Change, WithCost};
use retry_runtime::testing::Recording;
use support::clock::Simulated;
use support::dropped::{Shared, give_way, leaves_nothing_behind};
use support::held_permit::{FAILED, Outcomes, UNCHANGED, failed, hinted};
use support::limiters::{at_a_time, each};
use support::prelude::*;

use super::cancel::Woken;

/// The error of a call.
#[derive(Debug, PartialEq)]
enum Error {
    Rejected(RejectedBy),
    TimedOut,
    Failed(Failure),
}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected.by())
    }
}

impl From<TimedOut> for Error {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn verdict(error: &Error) -> Verdict {
    match error {
        Error::Failed(failure) => failure.0,
        _ => Verdict::STOP,
    }
}

/// Checks the last line of the log: a call gave up after this number of attempts.
#[track_caller]
fn assert_gave_up(recording: &Recording, attempts: u32, reason: Reason) {
    let line = recording.lines().pop().unwrap();
    let begins = line.starts_with(&format!("gave up call attempt={attempts} "));
    assert!(
        begins && line.ends_with(&format!("reason={reason}")),
        "{line}"
    );
}

#[retry(limiter = &limiter)]
async fn begin(limiter: impl AdmissionControl, started: Instant) -> Result<Duration, Failure> {
    Ok(started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn attempts_start_in_order_and_a_large_cost_is_not_overtaken() {
    let limiter = each(1);
    let start = Instant::now();
    let costs = [1, 1, 4, 1, 0, 2, 1];
    let calls = costs.map(|cost| begin(limiter.cost(cost), start));
    let begun = join_all(calls).await;
    let at = [0, 1, 2, 6, 6, 7, 9].map(|at| Ok(secs(at)));
    assert_eq!(begun, at);
    assert_eq!(limiter.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_more_run_at_a_time_than_the_limit() {
    #[retry(limiter = limiter)]
    async fn work(limiter: &ConcurrencyLimiter, start: Instant) -> Result<Duration, Failure> {
        let begun = start.elapsed();
        sleep(secs(1)).await;
        Ok(begun)
    }

    let limiter = at_a_time(2);
    let start = Instant::now();
    let begun = join_all((0..5).map(|_| work(&limiter, start))).await;
    assert_eq!(begun, [0, 0, 1, 1, 2].map(|at| Ok(secs(at))));
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn each_key_has_its_own_queue() {
    type Models = Keyed<&'static str, RateLimiter<Quota>>;

    #[retry(limiter = WithCost::new(models.of(&model), tokens))]
    async fn complete(
        models: &Models,
        model: &'static str,
        tokens: u32,
        start: Instant,
    ) -> Result<u64, Failure> {
        Ok(start.elapsed().as_secs())
    }

    let (models, start) = (Models::new(9, || each(1)), Instant::now());
    let begun = join_all([
        complete(&models, "a", 5, start),
        complete(&models, "a", 1, start),
        complete(&models, "b", 1, start),
        complete(&models, "a", 1, start),
        complete(&models, "b", 1, start),
    ]);
    assert_eq!(begun.await, [0, 5, 0, 6, 1].map(Ok));
    assert_eq!(models.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_hint_pauses_all_calls_and_successes_then_admit_more() {
    #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", limiter = limiter)]
    async fn call(
        limiter: &ConcurrencyLimiter,
        script: &mut Script,
        start: Instant,
    ) -> Result<Duration, Failure> {
        let begun = start.elapsed();
        sleep(millis(500)).await;
        script.next()?;
        Ok(begun)
    }

    let limiter = at_a_time(100);
    let start = Instant::now();
    let mut scripts = vec![Script::default(); 9];
    scripts[0] = Script::new([throttled_for(secs(10))]);
    let calls = scripts.iter_mut().map(async |script| {
        // The first attempt is throttled before the others start.
        if script.steps.is_empty() {
            sleep(secs(1)).await;
        }
        call(&limiter, script, start).await.unwrap().as_millis()
    });
    let begun = join_all(calls).await;
    // Others took their places during its pause.
    assert_eq!(begun[0], 12_500);
    let expected = [
        10_500, 11_000, 11_000, 11_500, 11_500, 12_000, 12_000, 12_100,
    ];
    assert_eq!(begun[1..], expected);
    assert_eq!(limiter.paused_for(), None);
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_as_long_as_the_longest_hint_and_two_minutes_at_most() {
    let limiter = at_a_time(100);
    let hint = |hint| hinted(Kind::Throttled, secs(hint));
    let paused = |pause| [Some(Change::Paused { pause: secs(pause) }), None];
    let [one, two, three, four, five] = [(); 5].map(|()| limiter.enter(1));
    assert_eq!(limiter.leave(one, hint(7)), paused(7));
    advance(secs(2)).await;
    assert_eq!(limiter.leave(two, hint(4)), UNCHANGED);
    assert_eq!(limiter.paused_for(), Some(secs(5)));
    // A hint that more than doubles the pause is reported.
    assert_eq!(limiter.leave(three, hint(10)), UNCHANGED);
    assert_eq!(limiter.paused_for(), Some(secs(10)));
    assert_eq!(limiter.leave(four, hint(86_400)), paused(120));
    assert_eq!(limiter.paused_for(), Some(secs(120)));
    advance(secs(120)).await;
    assert_eq!(limiter.paused_for(), None);
    // It started before the pause, so it isn't evidence about the time after it.
    assert_eq!(limiter.leave(five, AttemptOutcome::Success), UNCHANGED);
    let resumed = limiter.leave(limiter.enter(1), AttemptOutcome::Success);
    assert_eq!(resumed, [Some(Change::Resumed), None]);
    // The same for a server that is down for a while.
    for kind in [Kind::Transient, Kind::Timeout] {
        advance(secs(8)).await;
        limiter.leave(limiter.enter(1), hinted(kind, secs(7)));
        assert_eq!(limiter.paused_for(), Some(secs(7)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_too_long_is_rejected() {
    scripted! {
        #[retry(limiter = limiter, on = verdict, name = "call")]
        async fn call(limiter: &RateLimiter<Quota>, start: Instant) -> Result<u64, Error> = Ok(start.elapsed().as_secs());
    }

    let limiter = each(1).max_wait(secs(2));
    let start = Instant::now();
    let recording = testing::record();
    let ended = join_all((0..4).map(|_| async {
        let outcome = call(&limiter, start).await;
        (outcome, start.elapsed().as_secs())
    }));
    let rejected = || Err(Error::Rejected(RejectedBy::Limiter));
    let expected = [(Ok(0), 0), (Ok(1), 1), (Ok(2), 2), (rejected(), 2)];
    assert_eq!(ended.await, expected);
    assert_gave_up(&recording, 0, Reason::Rejected);
    // A call doesn't wait if it is known in advance that the wait would be too long.
    let slow = each(9).max_wait(secs(2));
    let start = Instant::now();
    call(&slow, start).await.unwrap();
    assert_eq!(call(&slow, start).await, rejected());
    assert_eq!((start.elapsed(), slow.waiting()), (secs(0), 0));
}

/// After a pause, a success may admit the next attempt at any time.
#[tokio::test(start_paused = true)]
async fn a_call_with_milliseconds_left_still_waits() {
    scripted! {
        #[retry(limiter = limiter, on = verdict)]
        async fn call(limiter: &ConcurrencyLimiter, took: Duration) -> Result<(), Error> = { sleep(took).await; Ok(()) };
    }

    for (took, second) in rows! {
        5, Ok(());
        15, Err(Error::Rejected(RejectedBy::Limiter));
    } {
        let limiter = at_a_time(100).max_wait(millis(10));
        limiter.leave(limiter.enter(1), hinted(Kind::Throttled, secs(10)));
        advance(secs(10)).await;
        let start = Instant::now();
        let first = call(&limiter, millis(took));
        let next = async { (call(&limiter, millis(5)).await, start.elapsed()) };
        let outcomes = tokio::join!(first, next);
        assert_eq!(outcomes, (Ok(()), (second, millis(10))), "{took}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_counts_against_the_deadline_and_not_against_the_timeout() {
    #[retry(max = 9, backoff = "none", limiter = limiter, deadline = "5s", timeout = "1s",
        on = verdict, name = "call")]
    async fn call(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Error> {
        sleep(millis(500)).await;
        Ok(script.next()?)
    }

    scripted! {
        #[retry(limiter = limiter, deadline = "5s", on = verdict)]
        async fn behind(limiter: &ConcurrencyLimiter) -> Result<(), Error> = Ok(());
    }

    let recording = testing::record();
    let start = Instant::now();
    let limiter = each(2);
    let mut script = Script::failing();
    // Attempts start at 0, 2 and 4 s; the next would start at 6 s.
    let outcome = call(&limiter, &mut script).await;
    assert_eq!(outcome, Err(Error::Failed(TRANSIENT)));
    assert_eq!((script.attempts, start.elapsed()), (3, millis(4500)));
    assert_gave_up(&recording, 3, Reason::Deadline);

    let late = || Err(Error::Rejected(RejectedBy::Deadline));
    let limiter = each(60);
    let start = Instant::now();
    call(&limiter, &mut Script::default()).await.unwrap();
    assert_eq!(call(&limiter, &mut Script::default()).await, late());
    assert_eq!(start.elapsed(), millis(500));
    assert_gave_up(&recording, 0, Reason::Deadline);

    // Behind other waiters the wait is unknown, so the call ends at its deadline.
    let limiter = at_a_time(1);
    let _held = HeldPermit::new(&limiter);
    let start = Instant::now();
    assert_eq!(behind(&limiter).await.map(|()| 0), late());
    assert_eq!((start.elapsed(), limiter.waiting()), (secs(5), 0));
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_cancelled() {
    scripted! {
        #[retry(max = 9, backoff = "none", limiter = limiter, cancel = token.cancelled(), on = verdict, name = "call")]
        async fn call(limiter: &RateLimiter<Quota>, script: &mut Script, token: CancellationToken) -> Result<usize, Error>
            = Ok(script.next()?);
    }

    for (failures, attempts, outcome) in [
        (0, 0, Error::Rejected(RejectedBy::Cancelled)),
        (2, 1, Error::Failed(TRANSIENT)),
    ] {
        let recording = testing::record();
        let limiter = each(60);
        if attempts == 0 {
            let _begun = limiter.enter(1);
        }
        let token = CancellationToken::new();
        let mut script = Script::new(vec![TRANSIENT; failures]);
        let start = Instant::now();
        let call = is_send(call(&limiter, &mut script, token.clone()));
        let (ended, ()) = tokio::join!(call, async {
            sleep(secs(7)).await;
            token.cancel();
        });
        assert_eq!(ended, Err(outcome));
        assert_eq!((script.attempts, start.elapsed()), (attempts, secs(7)));
        assert_eq!(limiter.waiting(), 0);
        assert_gave_up(&recording, attempts as u32, Reason::Cancelled);
    }
}

#[test]
fn a_blocking_wait_is_cancelled() {
    scripted! {
        #[retry(limiter = limiter, cancel = || asked.fetch_add(1, SeqCst) > 1, on = verdict)]
        fn call(limiter: &ConcurrencyLimiter, asked: &AtomicU32) -> Result<(), Error> = Ok(());
    }

    let limiter = at_a_time(1);
    let _held = HeldPermit::new(&limiter);
    let rejected = Err(Error::Rejected(RejectedBy::Cancelled));
    assert_eq!(call(&limiter, &AtomicU32::new(0)), rejected);
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn threads_take_turns() {
    #[retry(limiter = limiter)]
    fn call(limiter: &ConcurrencyLimiter, running: &AtomicU32) -> Result<(), Failure> {
        assert!(running.fetch_add(1, SeqCst) < 3);
        thread::yield_now();
        running.fetch_sub(1, SeqCst);
        Ok(())
    }

    let limiter = at_a_time(3);
    let (running, calls) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    call(&limiter, &running).unwrap();
                    calls.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(calls.into_inner(), 1600);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[test]
fn blocking_waits_are_as_long_and_can_be_skipped() {
    scripted! {
        #[retry(max = 2, backoff = "none", limiter = limiter, deadline = "1m", on = verdict)]
        fn call(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Error> = Ok(script.next()?);
    }

    let skipped = testing::skip_sleeps();
    let limiter = each(5);
    let mut script = Script::new([TRANSIENT, TRANSIENT]);
    assert_eq!(call(&limiter, &mut script), Ok(3));
    // The clock advances a little between two attempts.
    assert!((millis(9_900)..=secs(10)).contains(&skipped.total()));
    let limiter = each(600);
    call(&limiter, &mut Script::default()).unwrap();
    let rejected = Err(Error::Rejected(RejectedBy::Deadline));
    assert_eq!(call(&limiter, &mut Script::default()), rejected);
}

/// A runtime's paused clock, which the limiter uses, stands still while a thread waits.
#[tokio::test(start_paused = true)]
async fn a_blocking_wait_ends_under_a_paused_clock() {
    scripted! {
        #[retry(max = 2, backoff = "none", limiter = limiter, on = verdict)]
        fn call(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Error> = Ok(script.next()?);
    }

    let limiter = RateLimiter::fixed(100, secs(1));
    let began = std::time::Instant::now();
    let mut script = Script::new([TRANSIENT, TRANSIENT]);
    assert_eq!(call(&limiter, &mut script), Ok(3));
    assert!(began.elapsed() >= millis(20));
    // The waits of async calls include the time that has passed for the thread.
    let start = Instant::now();
    assert!(limiter.available() < 1.0);
    advance(millis(10)).await;
    assert!(limiter.available() > 0.99);
    assert_eq!(start.elapsed(), millis(10));
}

/// The limiter sees the time of a blocking call's timer pass.
#[test]
fn a_blocking_wait_passes_by_the_timer_of_the_call() {
    scripted! {
        #[retry(max = 1, backoff = "none", limiter = limiter, timer = time)]
        fn call(limiter: &RateLimiter<Quota>, time: &Simulated);
    }

    let (limiter, time) = (each(600), Simulated::new());
    assert_eq!(call(&limiter, &time, &mut Script::new([TRANSIENT])), Ok(2));
    assert!((secs(599)..=secs(600)).contains(&time.passed()));
}

#[tokio::test(start_paused = true)]
async fn skipped_waits_are_skipped_and_limits_of_time_are_not() {
    let skipped = testing::skip_sleeps();
    let limiter = each(600);
    let start = Instant::now();
    begin(&limiter, start).await.unwrap();
    begin(&limiter, start).await.unwrap();
    assert_eq!(skipped.total(), secs(600));
    // The holder releases the slot long before the limit.
    let limiter = at_a_time(1).max_wait(secs(60));
    let held = HeldPermit::new(&limiter);
    let (begun, ()) = tokio::join!(begin(&limiter, start), async {
        sleep(secs(59)).await;
        drop(held);
    });
    assert!(begun.is_ok());
}

#[tokio::test(start_paused = true)]
async fn waits_and_changes_are_logged_and_observed() {
    type Seen = RefCell<Vec<String>>;

    #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", limiter = limiter, name = "call",
        observe = |event| seen.borrow_mut().push(event.to_string()))]
    async fn call(
        limiter: &ConcurrencyLimiter,
        script: &mut Script,
        seen: &Seen,
    ) -> Result<usize, Failure> {
        sleep(secs(1)).await;
        script.next()
    }

    let recording = testing::record();
    let limiter = at_a_time(1);
    let (first, second) = <(Seen, Seen)>::default();
    let mut throttled = Script::new([throttled_for(secs(5))]);
    let mut ready = Script::default();
    let (one, two) = tokio::join!(
        call(&limiter, &mut throttled, &first),
        call(&limiter, &mut ready, &second),
    );
    assert_eq!((one, two), (Ok(2), Ok(1)));
    let of_second = [
        "waiting call attempt=1 ahead=0",
        "waited call attempt=1 delay=6s",
        "starting call attempt=1",
        "limiter resumed call attempt=1",
        "succeeded call attempt=1 max=1",
    ];
    assert_eq!(second.into_inner(), of_second);
    let of_first = [
        "starting call attempt=1",
        "limiter paused call attempt=1 delay=5s",
        "retrying call attempt=1 max=1 delay=5s error=throttled reason=throttled",
        "waiting call attempt=2 ahead=0 delay=20ms",
        "waited call attempt=2 delay=1s",
        "starting call attempt=2",
        "succeeded call attempt=2 max=1",
    ];
    assert_eq!(first.into_inner(), of_first);
    // The log has neither the beginning of an attempt nor the success of the first.
    assert_eq!(recording.lines().len(), 12 - 3 - 1);
}

/// The keys `breaker` and `limiter` record the same.
#[test]
fn the_verdict_decides_what_is_recorded() {
    scripted! {
        #[retry(max = 9, backoff = "none", limiter = limiter, breaker = breaker)]
        fn call(limiter: &Outcomes, breaker: &Outcomes);
        #[retry(max = 9, backoff = "none", breaker = breaker)] fn of_breaker(breaker: &Outcomes);
    }

    let _skipped = testing::skip_sleeps();
    let [limiter, breaker, alone] = [(); 3].map(|()| Outcomes::default());
    let invalid = Failure(Verdict::INVALID);
    let later = Failure(Verdict::TRANSIENT.after(secs(0)));
    let steps = [
        TRANSIENT,
        TIMEOUT,
        THROTTLED,
        throttled_for(secs(1)),
        invalid,
        later,
        STOP,
    ];
    call(&limiter, &breaker, &mut Script::new(steps.clone())).unwrap_err();
    of_breaker(&alone, &mut Script::new(steps)).unwrap_err();
    for outcomes in [limiter, breaker, alone] {
        let expected = [
            FAILED,
            failed(Kind::Timeout),
            failed(Kind::Throttled),
            hinted(Kind::Throttled, secs(1)),
            AttemptOutcome::Success,
            hinted(Kind::Transient, secs(0)),
            AttemptOutcome::Success,
        ];
        let expected = (expected.to_vec(), 7);
        assert_eq!((outcomes.take(), outcomes.entered()), expected);
    }
}

#[test]
fn breakers_and_limiters_work_without_retries() {
    scripted! {
        #[retry(max = 0, limiter = limiter, breaker = breaker)]
        fn once(limiter: &Outcomes, breaker: &Outcomes) = Err(TRANSIENT);
        #[retry(enabled = false, limiter = limiter, breaker = breaker)]
        fn off(limiter: &Outcomes, breaker: &Outcomes) = Err(TRANSIENT);
        #[retry(policy = Policy::new().enabled(false), limiter = limiter, breaker = breaker)]
        fn off_by_policy(limiter: &Outcomes, breaker: &Outcomes) = Err(TRANSIENT);
    }

    for call in [once, off, off_by_policy] {
        let (limiter, breaker) = <(Outcomes, Outcomes)>::default();
        call(&limiter, &breaker).unwrap_err();
        let expected = (vec![FAILED], vec![FAILED]);
        assert_eq!((limiter.take(), breaker.take()), expected);
    }
}

#[test]
fn a_panic_ends_an_attempt_as_dropped() {
    scripted! { #[retry(limiter = limiter)] fn call(limiter: &Outcomes) = panic!("in the body"); }

    let limiter = Outcomes::default();
    assert!(catch_unwind(AssertUnwindSafe(|| call(&limiter))).is_err());
    assert_eq!(limiter.take(), [AttemptOutcome::Dropped]);
}

#[tokio::test(start_paused = true)]
async fn a_returned_value_is_a_success_with_any_other_keys() {
    scripted! {
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, until = |_| false)]
        async fn until(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, until = |_| false)]
        fn until_blocking(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, until = |_| false,
            cancel = pending())]
        async fn cancellable(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, validate = |_| Err(TRANSIENT),
            cancel = pending())]
        async fn validated(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
        #[retry(max = 2, backoff = "none", limiter = limiter, breaker = breaker, validate = |_| Err(TRANSIENT))]
        fn validated_blocking(limiter: &Outcomes, breaker: &Outcomes) -> Result<u32, Failure> = Ok(1);
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
        seen(until_blocking(l, b)) => made(Ok(1), 3);
        seen(cancellable(l, b).await) => made(Ok(1), 3);
        seen(validated(l, b).await) => made(Err(TRANSIENT), 3);
        seen(validated_blocking(l, b)) => made(Err(TRANSIENT), 3);
        // A correction is not an attempt.
        seen(corrected(l, b).await) => made(Ok(3), 1);
        seen(corrected_blocking(l, b)) => made(Ok(3), 1);
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

    #[retry(stream = "buffer")]
    async fn opened(&self) -> Result<impl Stream<Item = Result<u32, Failure>> + use<>, Failure> {
        Ok(stream::iter([self.answer()]))
    }
}

#[async_trait]
trait Model {
    async fn complete(&self, prompt: String) -> Result<u32, Failure>;
}

#[async_trait]
impl Model for Client {
    #[retry(backoff = "none", limiter = &self.limiter, breaker = &self.breaker)]
    async fn complete(&self, _: String) -> Result<u32, Failure> {
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
    check("async_trait", async |client| {
        client.complete(String::new()).await
    })
    .await;
    check("mutable", async |mut client| client.mutable().await).await;
    check("opened", async |client| {
        client.opened().await?.next().await.unwrap()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_key_works_with_a_limiter() {
    struct Instantly;

    impl Timer for Instantly {
        async fn sleep(&self, duration: Duration) {
            sleep(duration / 2).await;
        }
    }

    static BREAKER: Breaker = Breaker::new();

    #[retry(max = limiter.waiting() + 4, limiter = limiter.cost(2), breaker = &BREAKER, budget, timeout = "3s",
        deadline = "1m", attempt = attempt, repeats = 9, until = |value| *value > 2,
        validate = |value| if *value > 3 { Ok(()) } else { Err(TRANSIENT) }, correct = async |value, _| Ok(value + 1),
        cancel = pending(), idempotent = true, timer = DefaultTimer, observe = |_| (),
        name = format!("call {suffix}"), fallback = async |gave_up: GaveUp<Failure, u32>| Err(gave_up.into_error()))]
    async fn call(limiter: &ConcurrencyLimiter, suffix: &str) -> Result<u32, Failure> {
        if attempt.number() == 1 {
            Err(TRANSIENT)
        } else {
            Ok(attempt.number())
        }
    }
    scripted! {
        #[retry(backoff = "none", limiter = limiter, timer = |pause| sleep(pause))]
        async fn timed(limiter: &RateLimiter<Quota>);
        #[retry(backoff = "none", limiter = limiter, timer = Instantly)]
        async fn clocked(limiter: &RateLimiter<Quota>);
    }

    let limiter = at_a_time(2);
    assert_eq!(call(&limiter, "it").await, Ok(4));
    assert_eq!(limiter.running(), 0);
    let start = Instant::now();
    assert_eq!(timed(&each(5), &mut Script::new([TRANSIENT])).await, Ok(2));
    assert_eq!(start.elapsed(), secs(5));
    // A timer that wakes too early is asked again.
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(clocked(&each(5), &mut script).await, Ok(2));
    assert!(start.elapsed() >= secs(10), "{:?}", start.elapsed());
}

/// Admits no attempt.
struct Never;

impl AdmissionControl for Never {
    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Rejected
    }

    fn leave(&self, _: Permit, end: AttemptOutcome) -> Changes {
        assert_eq!(end, AttemptOutcome::NotBegun);
        UNCHANGED
    }
}

#[tokio::test]
async fn users_can_implement_a_limiter() {
    scripted! {
        #[retry(limiter = &limiter, on = verdict)]
        async fn call(limiter: impl AdmissionControl) -> Result<(), Error> = Ok(());
    }

    let rejected = || Err(Error::Rejected(RejectedBy::Limiter));
    let boxed: Box<dyn AdmissionControl> = Box::new(Never);
    assert_rows! {
        call(Never).await => rejected();
        call(&Never as &dyn AdmissionControl).await => rejected();
        call(Rc::new(Never)).await => rejected();
        call(Arc::new(Never)).await => rejected();
        call(WithCost::new(boxed, 3)).await => rejected();
    }
    let io = io::Error::from(Rejected::new(RejectedBy::Limiter));
    assert_eq!(io.to_string(), "rejected by the limiter");
}

#[test]
fn a_call_dropped_at_any_await_loses_nothing() {
    #[retry(max = 2, limiter = &shared.limiter, breaker = breaker, budget = &shared.budget,
        timer = |_| give_way(), cancel = pending())]
    async fn call(shared: &Shared, breaker: &Breaker) -> Result<(), Failure> {
        Err(shared.attempts(1).await)
    }

    leaves_nothing_behind(1, async |shared| {
        let breaker = Breaker::new();
        let held = HeldPermit::new(shared.limiter.cost(2));
        // First it waits for its turn.
        let free = async {
            give_way().await;
            drop(held);
        };
        let (outcome, ()) = join(call(shared, &breaker), free).await;
        assert_eq!(outcome, Err(TRANSIENT));
        assert_eq!(breaker.state(), BreakerState::Closed);
    });
}

/// An attempt of the property test, asked only when it was woken.
#[derive(Debug)]
struct Queued {
    number: usize,
    ticket: Permit,
    has_turn: bool,
    woken: Arc<Woken>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(u32),
    /// One of those that were woken asks.
    Ask(Index),
    /// One leaves, be it waiting or running.
    Leave(Index, AttemptOutcome),
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![
        Just(AttemptOutcome::Success),
        Just(FAILED),
        Just(AttemptOutcome::Ignored),
        Just(AttemptOutcome::NotBegun),
    ];
    prop_oneof![
        (0..7_u32).prop_map(Step::Enter),
        any::<Index>().prop_map(Step::Ask),
        (any::<Index>(), end).prop_map(|(index, end)| Step::Leave(index, end)),
    ]
}

proptest! {
    #[test]
    fn no_overtaking_and_no_lost_slot_in_any_order(
        limit in 1..5_u32,
        steps in vec(step(), 0..200),
    ) {
        let limiter = at_a_time(limit);
        let mut all: Vec<Queued> = Vec::new();
        let mut entered = 0;
        let ask = |all: &mut Vec<Queued>, at: usize| {
            let one = &mut all[at];
            one.woken.0.store(0, SeqCst);
            let waker = Waker::from(Arc::clone(&one.woken));
            one.has_turn = limiter.poll(&mut one.ticket, &waker) == Admission::Admitted;
            // Earlier waiters have started, too.
            let (has_turn, number) = (one.has_turn, one.number);
            let waits_before = all.iter().any(|other| !other.has_turn && other.number < number);
            assert!(!has_turn || !waits_before);
            let running = || all.iter().filter(|one| one.has_turn && one.ticket.cost() > 0);
            let sum: u32 = running().map(|one| one.ticket.cost()).sum();
            assert!(sum <= limit || running().count() == 1, "{sum} of {limit}");
        };
        let due = |all: &[Queued]| {
            let woken = |one: &Queued| !one.has_turn && one.woken.0.load(SeqCst) > 0;
            let due = (0..all.len()).filter(|at| woken(&all[*at]));
            due.collect::<Vec<_>>()
        };
        for step in steps {
            match step {
                Step::Enter(cost) => {
                    all.push(Queued {
                        number: entered,
                        ticket: limiter.enter(cost),
                        has_turn: false,
                        woken: Arc::new(Woken(AtomicU32::new(1))),
                    });
                    entered += 1;
                    // Like a call.
                    let last = all.len() - 1;
                    ask(&mut all, last);
                }
                Step::Ask(index) => {
                    let due = due(&all);
                    if !due.is_empty() {
                        ask(&mut all, *index.get(&due));
                    }
                }
                Step::Leave(index, end) => {
                    if !all.is_empty() {
                        let one = all.remove(index.index(all.len()));
                        limiter.leave(one.ticket, if one.has_turn { end } else { AttemptOutcome::NotBegun });
                    }
                }
            }
        }
        // Every woken waiter polls, and every running attempt ends.
        while !all.is_empty() {
            let woken = due(&all);
            if let Some(at) = woken.first() {
                ask(&mut all, *at);
                continue;
            }
            let running = all.iter().position(|one| one.has_turn);
            let running = running.expect("somebody runs, or is woken");
            limiter.leave(all.remove(running).ticket, AttemptOutcome::Success);
        }
        prop_assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
    }
}

/// Polls the call once, so that it is in the queue, and then no more.
fn polled_once<F: Future>(mut call: Pin<Box<F>>) -> Pin<Box<F>> {
    let polled = call.as_mut().now_or_never();
    assert!(polled.is_none());
    call
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_is_no_longer_polled_is_overtaken() {
    for absent in [1, 2, 40] {
        let limiter = each(1);
        let start = Instant::now();
        begin(&limiter, start).await.unwrap();
        let kept: Vec<_> = (0..absent)
            .map(|_| polled_once(Box::pin(begin(&limiter, start))))
            .collect();
        let within = timeout(secs(90), begin(&limiter, start)).await;
        assert!(within.unwrap().is_ok(), "{absent}");
        // From then on, they don't hold up others.
        let since = Instant::now();
        begin(&limiter, start).await.unwrap();
        let waited = since.elapsed();
        assert!((millis(998)..=secs(1)).contains(&waited), "{waited:?}");
        // They are the next once they are there again, in their order.
        let late = begin(&limiter, start);
        let (kept, late) = tokio::join!(join_all(kept), late);
        let begun: Vec<_> = kept.into_iter().chain([late]).map(Result::unwrap).collect();
        assert!(begun.is_sorted(), "{begun:?}");
        assert_eq!(limiter.waiting(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_is_no_longer_polled_does_not_block_a_slot() {
    let limiter = at_a_time(1);
    let start = Instant::now();
    let held = HeldPermit::new(&limiter);
    let kept = polled_once(Box::pin(begin(&limiter, start)));
    let others = join_all((0..3).map(|_| begin(&limiter, start)));
    let free = async {
        sleep(secs(10)).await;
        drop(held);
    };
    let both = async { tokio::join!(others, free) };
    let (others, ()) = timeout(secs(60), both).await.unwrap();
    // It was its turn for a second.
    assert_eq!(others, vec![Ok(secs(11)); 3]);
    drop(kept);
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_less_than_a_second_late_is_not_overtaken() {
    let limiter = each(1);
    let start = Instant::now();
    begin(&limiter, start).await.unwrap();
    let slow = polled_once(Box::pin(begin(&limiter, start)));
    let slow = async {
        sleep(millis(1_900)).await;
        slow.await
    };
    let begun = tokio::join!(begin(&limiter, start), slow);
    // A late start is compensated by up to 2 ms.
    assert_eq!(begun, (Ok(millis(2_898)), Ok(millis(1_900))));
}
