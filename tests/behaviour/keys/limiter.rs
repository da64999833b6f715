//! The key `limiter`: waits, their order and length, and reports.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{FutureExt, join_all};
use futures::{Stream, StreamExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use retry_protections::{Breaker, ConcurrencyLimiter, Keyed, Quota, RateLimiter};
use retry_runtime::own_loop::{Attempts, Site};
use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, BlockingTimer, BreakerState, Change, Changes,
    DefaultTimer, Moment, Permit, TimerFn, WithCost,
};
use retry_runtime::{
    Budget, GaveUp, Kind, Policy, Reason, Rejected, RejectedBy, TimedOut, Verdict, retry, testing,
};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};
use support::held_permit::{Admit, FAILED, HeldPermit, UNCHANGED};
use support::is_send;
use support::limiters::{at_a_time, each};
use tokio::task::yield_now;
use tokio::time::{Instant, advance, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::keys::{Script, millis, secs};

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
    assert_eq!(
        begun[1..],
        [
            10_500, 11_000, 11_000, 11_500, 11_500, 12_000, 12_000, 12_100
        ]
    );
    assert_eq!(limiter.paused_for(), None);
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_as_long_as_the_longest_hint_and_two_minutes_at_most() {
    let limiter = at_a_time(100);
    let hinted = |hint| AttemptOutcome::Failure {
        kind: Kind::Throttled,
        hint: Some(secs(hint)),
    };
    let [one, two, three, four, five] = [(); 5].map(|()| limiter.enter(1));
    assert_eq!(
        limiter.leave(one, hinted(7)),
        [Some(Change::Paused { pause: secs(7) }), None]
    );
    advance(secs(2)).await;
    assert_eq!(limiter.leave(two, hinted(4)), UNCHANGED);
    assert_eq!(limiter.paused_for(), Some(secs(5)));
    // A hint that more than doubles the pause is reported.
    assert_eq!(limiter.leave(three, hinted(10)), UNCHANGED);
    assert_eq!(limiter.paused_for(), Some(secs(10)));
    assert_eq!(
        limiter.leave(four, hinted(86_400)),
        [Some(Change::Paused { pause: secs(120) }), None]
    );
    assert_eq!(limiter.paused_for(), Some(secs(120)));
    advance(secs(120)).await;
    assert_eq!(limiter.paused_for(), None);
    // It started before the pause, so it isn't evidence about the time after it.
    assert_eq!(limiter.leave(five, AttemptOutcome::Success), UNCHANGED);
    let six = limiter.enter(1);
    assert_eq!(
        limiter.leave(six, AttemptOutcome::Success),
        [Some(Change::Resumed), None]
    );
    // The same for a server that is down for a while.
    for kind in [Kind::Transient, Kind::Timeout] {
        advance(secs(8)).await;
        let ticket = limiter.enter(1);
        let hint = Some(secs(7));
        limiter.leave(ticket, AttemptOutcome::Failure { kind, hint });
        assert_eq!(limiter.paused_for(), Some(secs(7)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_too_long_is_rejected() {
    #[retry(limiter = limiter, on = verdict, name = "call")]
    async fn call(limiter: &RateLimiter<Quota>, start: Instant) -> Result<u64, Error> {
        Ok(start.elapsed().as_secs())
    }

    let limiter = each(1).max_wait(secs(2));
    let start = Instant::now();
    let recording = testing::record();
    let ended = join_all((0..4).map(|_| async {
        let outcome = call(&limiter, start).await;
        (outcome, start.elapsed().as_secs())
    }));
    assert_eq!(
        ended.await,
        [
            (Ok(0), 0),
            (Ok(1), 1),
            (Ok(2), 2),
            (Err(Error::Rejected(RejectedBy::Limiter)), 2),
        ]
    );
    let last = recording.lines().pop().unwrap();
    assert!(
        last.starts_with("gave up call attempt=0 max=3 error="),
        "{last}"
    );
    assert!(last.ends_with("reason=rejected"), "{last}");
    // A call doesn't wait if it is known in advance that the wait would be too long.
    let slow = each(9).max_wait(secs(2));
    let start = Instant::now();
    call(&slow, start).await.unwrap();
    let rejected = Err(Error::Rejected(RejectedBy::Limiter));
    assert_eq!(call(&slow, start).await, rejected);
    assert_eq!(start.elapsed(), secs(0));
    assert_eq!(slow.waiting(), 0);
}

/// After a pause, a success may admit the next attempt at any time.
#[tokio::test(start_paused = true)]
async fn a_call_with_milliseconds_left_still_waits() {
    #[retry(limiter = limiter, on = verdict)]
    async fn call(limiter: &ConcurrencyLimiter, took: Duration) -> Result<(), Error> {
        sleep(took).await;
        Ok(())
    }

    for (took, second, ended) in [
        (5, Ok(()), 10),
        (15, Err(Error::Rejected(RejectedBy::Limiter)), 10),
    ] {
        let limiter = at_a_time(100).max_wait(millis(10));
        let hint = Some(secs(10));
        let kind = Kind::Throttled;
        limiter.leave(limiter.enter(1), AttemptOutcome::Failure { kind, hint });
        advance(secs(10)).await;
        let start = Instant::now();
        let first = call(&limiter, millis(took));
        let next = async { (call(&limiter, millis(5)).await, start.elapsed()) };
        let outcomes = tokio::join!(first, next);
        assert_eq!(outcomes, (Ok(()), (second, millis(ended))), "{took}");
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

    #[retry(limiter = limiter, deadline = "5s", on = verdict)]
    async fn behind(limiter: &ConcurrencyLimiter) -> Result<(), Error> {
        Ok(())
    }

    let recording = testing::record();
    let start = Instant::now();
    let limiter = each(2);
    let mut script = Script::new(vec![TRANSIENT; 9]);
    // Attempts start at 0, 2 and 4 s; the next would start at 6 s.
    let outcome = call(&limiter, &mut script).await;
    assert_eq!(outcome, Err(Error::Failed(TRANSIENT)));
    assert_eq!((script.attempts, start.elapsed()), (3, millis(4500)));
    let last = recording.lines().pop().unwrap();
    assert!(last.starts_with("gave up call attempt=3 "), "{last}");
    assert!(last.ends_with("reason=deadline"), "{last}");

    let limiter = each(60);
    let start = Instant::now();
    call(&limiter, &mut Script::default()).await.unwrap();
    let outcome = call(&limiter, &mut Script::default()).await;
    assert_eq!(outcome, Err(Error::Rejected(RejectedBy::Deadline)));
    assert_eq!(start.elapsed(), millis(500));
    let last = recording.lines().pop().unwrap();
    assert!(last.starts_with("gave up call attempt=0 "), "{last}");
    assert!(last.ends_with("reason=deadline"), "{last}");

    // Behind other waiters the wait is unknown, so the call ends at its deadline.
    let limiter = at_a_time(1);
    let _held = HeldPermit::new(&limiter);
    let start = Instant::now();
    let outcome = behind(&limiter).await;
    assert_eq!(outcome, Err(Error::Rejected(RejectedBy::Deadline)));
    assert_eq!((start.elapsed(), limiter.waiting()), (secs(5), 0));
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_cancelled() {
    #[retry(max = 9, backoff = "none", limiter = limiter, cancel = token.cancelled(),
        on = verdict, name = "call")]
    async fn call(
        limiter: &RateLimiter<Quota>,
        script: &mut Script,
        token: CancellationToken,
    ) -> Result<usize, Error> {
        Ok(script.next()?)
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
        let (ended, ()) =
            tokio::join!(is_send(call(&limiter, &mut script, token.clone())), async {
                sleep(secs(7)).await;
                token.cancel();
            });
        assert_eq!(ended, Err(outcome));
        assert_eq!((script.attempts, start.elapsed()), (attempts, secs(7)));
        assert_eq!(limiter.waiting(), 0);
        let last = recording.lines().pop().unwrap();
        let begins = format!("gave up call attempt={attempts} ");
        assert!(
            last.starts_with(&begins) && last.ends_with("reason=cancelled"),
            "{last}"
        );
    }
}

#[test]
fn a_blocking_wait_is_cancelled() {
    #[retry(limiter = limiter, cancel = || asked.fetch_add(1, SeqCst) > 1, on = verdict)]
    fn call(limiter: &ConcurrencyLimiter, asked: &AtomicU32) -> Result<(), Error> {
        Ok(())
    }

    let limiter = at_a_time(1);
    let _held = HeldPermit::new(&limiter);
    let asked = AtomicU32::new(0);
    let rejected = Err(Error::Rejected(RejectedBy::Cancelled));
    assert_eq!(call(&limiter, &asked), rejected);
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
    #[retry(max = 2, backoff = "none", limiter = limiter, deadline = "1m", on = verdict)]
    fn call(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Error> {
        Ok(script.next()?)
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
    #[retry(max = 2, backoff = "none", limiter = limiter, on = verdict)]
    fn call(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Error> {
        Ok(script.next()?)
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
    #[retry(max = 1, backoff = "none", limiter = limiter, timer = time, on = verdict)]
    fn call(
        limiter: &RateLimiter<Quota>,
        script: &mut Script,
        time: &Simulated,
    ) -> Result<usize, Error> {
        Ok(script.next()?)
    }

    #[derive(Default)]
    struct Simulated(Cell<Duration>);

    impl BlockingTimer for Simulated {
        fn sleep(&self, duration: Duration) {
            self.0.set(self.0.get() + duration);
        }

        fn now(&self) -> Moment {
            Moment::from_origin(self.0.get())
        }
    }

    let (limiter, time) = (each(600), Simulated::default());
    assert_eq!(call(&limiter, &mut Script::new([TRANSIENT]), &time), Ok(2));
    assert!((secs(599)..=secs(600)).contains(&time.0.get()));
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
async fn a_budget_does_not_pay_for_throttled_retries() {
    scripted! {
        #[retry(max = 9, backoff = "none", limiter = limiter, budget = budget)]
        async fn call(limiter: &ConcurrencyLimiter, budget: &Budget);
    }

    let limiter = at_a_time(1);
    for (steps, left) in [
        (vec![], 500),
        (vec![THROTTLED, THROTTLED, STOP], 500),
        (vec![THROTTLED, throttled_for(secs(3)), THROTTLED], 500),
        // The last retry cost nothing, so a success adds 1.
        (vec![TRANSIENT, THROTTLED], 487),
        (vec![TRANSIENT, THROTTLED, STOP], 487),
        (vec![TRANSIENT, THROTTLED, TIMEOUT, STOP], 486),
        (vec![THROTTLED, TRANSIENT], 500),
    ] {
        let budget = Budget::standard();
        let _ = call(&limiter, &budget, &mut Script::new(steps.clone())).await;
        assert_eq!(
            budget.to_string(),
            format!("{left} of 500 tokens"),
            "{steps:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_breaker_is_checked_before_the_queue_and_entered_after_it() {
    #[retry(max = 0, limiter = limiter, breaker = breaker, on = verdict)]
    async fn call(limiter: &RateLimiter<Quota>, breaker: &Breaker) -> Result<(), Error> {
        Ok(())
    }

    fn open(breaker: &Breaker) {
        let pass = breaker.admit().unwrap();
        let (kind, hint) = (Kind::Transient, None);
        breaker.record(pass, AttemptOutcome::Failure { kind, hint });
        assert_eq!(breaker.state(), BreakerState::Open);
    }

    let rejected = Err(Error::Rejected(RejectedBy::Breaker));
    let (limiter, breaker) = (each(2), Breaker::new().consecutive_failures(1));
    let start = Instant::now();
    let (ended, behind, ()) = tokio::join!(
        async {
            call(&limiter, &breaker).await.unwrap();
            call(&limiter, &breaker).await
        },
        call(&limiter, &breaker),
        async {
            sleep(secs(1)).await;
            open(&breaker);
            assert!(breaker.is_open());
            // The call is not in the queue, not even for a moment.
            assert_eq!(limiter.waiting(), 2);
            assert_eq!(call(&limiter, &breaker).await, rejected);
            assert_eq!(start.elapsed(), secs(1));
        }
    );
    assert_eq!((&ended, &behind), (&rejected, &rejected));
    // The cost of an attempt that never started is refunded, so both had their turns at once.
    assert_eq!(start.elapsed(), secs(2));
    // The queue must not delay a trial.
    advance(secs(4)).await;
    assert!(!breaker.is_open());
    assert_eq!(call(&limiter, &breaker).await, Ok(()));
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_half_open_breaker_rejects_calls_without_a_trial_slot() {
    let breaker = Breaker::new().consecutive_failures(1).open_for(secs(5));
    let pass = breaker.admit().unwrap();
    let (kind, hint) = (Kind::Transient, None);
    breaker.record(pass, AttemptOutcome::Failure { kind, hint });
    advance(secs(5)).await;
    assert!(!breaker.is_open());
    let trial = breaker.admit().unwrap();
    assert!(breaker.is_open());
    assert_eq!(breaker.admit(), None);
    advance(secs(5)).await;
    assert!(!breaker.is_open());
    breaker.record(trial, AttemptOutcome::Ignored);
    assert!(!(&breaker as &dyn AdmissionControl).is_open());
}

#[tokio::test(start_paused = true)]
async fn waits_and_changes_are_logged_and_observed() {
    #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", limiter = limiter, name = "call",
        observe = |event| seen.borrow_mut().push(event.to_string()))]
    async fn call(
        limiter: &ConcurrencyLimiter,
        script: &mut Script,
        seen: &RefCell<Vec<String>>,
    ) -> Result<usize, Failure> {
        sleep(secs(1)).await;
        script.next()
    }

    let recording = testing::record();
    let limiter = at_a_time(1);
    let (first, second) = (RefCell::default(), RefCell::default());
    let mut throttled = Script::new([throttled_for(secs(5))]);
    let mut ready = Script::default();
    let (one, two) = tokio::join!(
        call(&limiter, &mut throttled, &first),
        call(&limiter, &mut ready, &second),
    );
    assert_eq!((one, two), (Ok(2), Ok(1)));
    assert_eq!(
        second.into_inner(),
        [
            "waiting call attempt=1 ahead=0",
            "waited call attempt=1 delay=6s",
            "starting call attempt=1",
            "limiter resumed call attempt=1",
            "succeeded call attempt=1 max=1",
        ]
    );
    assert_eq!(
        first.into_inner(),
        [
            "starting call attempt=1",
            "limiter paused call attempt=1 delay=5s",
            "retrying call attempt=1 max=1 delay=5s error=throttled reason=throttled",
            "waiting call attempt=2 ahead=0 delay=20ms",
            "waited call attempt=2 delay=1s",
            "starting call attempt=2",
            "succeeded call attempt=2 max=1",
        ]
    );
    // The log has neither the beginning of an attempt nor the success of the first.
    assert_eq!(recording.lines().len(), 12 - 3 - 1);
}

/// Records the outcomes of attempts, and admits all of them.
#[derive(Debug, Default)]
struct Notes {
    ended: Mutex<Vec<AttemptOutcome>>,
    entered: AtomicU64,
}

impl Notes {
    fn take(&self) -> Vec<AttemptOutcome> {
        mem::take(&mut self.ended.lock().unwrap())
    }
}

impl AdmissionControl for Notes {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(self.entered.fetch_add(1, SeqCst) + 1, cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Admitted
    }

    fn leave(&self, ticket: Permit, end: AttemptOutcome) -> Changes {
        let mut ended = self.ended.lock().unwrap();
        ended.push(end);
        assert_eq!(ticket.number() as usize, ended.len());
        [None; 2]
    }
}

#[test]
fn the_verdict_decides_what_the_limiter_records() {
    scripted! { #[retry(max = 9, backoff = "none", limiter = notes)] fn call(notes: &Notes); }

    let _skipped = testing::skip_sleeps();
    let notes = Notes::default();
    let invalid = Failure(Verdict::INVALID);
    let steps = [TRANSIENT, TIMEOUT, throttled_for(secs(1)), invalid, STOP];
    call(&notes, &mut Script::new(steps)).unwrap_err();
    let failed = |kind, hint| AttemptOutcome::Failure { kind, hint };
    assert_eq!(
        notes.take(),
        [
            FAILED,
            failed(Kind::Timeout, None),
            failed(Kind::Throttled, Some(secs(1))),
            AttemptOutcome::Success,
            AttemptOutcome::Success,
        ]
    );
    assert_eq!(notes.entered.load(SeqCst), 5);
}

#[test]
fn a_limiter_works_without_retries() {
    #[retry(max = 0, limiter = notes)]
    fn once(notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(enabled = false, limiter = notes)]
    fn off(notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(policy = policy, limiter = notes)]
    fn off_by_policy(policy: &Policy, notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(limiter = notes)]
    fn panics(notes: &Notes) -> Result<(), Failure> {
        panic!("in the body")
    }

    let notes = Notes::default();
    once(&notes).unwrap_err();
    off(&notes).unwrap_err();
    off_by_policy(&Policy::new().enabled(false), &notes).unwrap_err();
    assert!(catch_unwind(AssertUnwindSafe(|| panics(&notes))).is_err());
    assert_eq!(
        notes.take(),
        [FAILED, FAILED, FAILED, AttemptOutcome::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_returned_value_is_a_success_with_any_other_keys() {
    /// The same for a breaker.
    #[derive(Debug, Default)]
    struct Passes(RefCell<Vec<AttemptOutcome>>);

    impl AdmissionControl for Passes {
        fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
            Admission::Admitted
        }

        fn leave(&self, _: Permit, outcome: AttemptOutcome) -> Changes {
            self.0.borrow_mut().push(outcome);
            [None; 2]
        }
    }

    #[retry(max = 2, backoff = "none", limiter = notes, breaker = passes, until = |_| false)]
    async fn until(notes: &Notes, passes: &Passes) -> Result<u32, Failure> {
        Ok(1)
    }
    #[retry(max = 2, backoff = "none", limiter = notes, breaker = passes, until = |_| false,
        cancel = std::future::pending())]
    async fn cancellable(notes: &Notes, passes: &Passes) -> Result<u32, Failure> {
        Ok(1)
    }
    #[retry(max = 2, backoff = "none", limiter = notes, breaker = passes,
        validate = |_| Err(TRANSIENT), cancel = std::future::pending())]
    async fn validated(notes: &Notes, passes: &Passes) -> Result<u32, Failure> {
        Ok(1)
    }
    #[retry(max = 2, backoff = "none", limiter = notes, breaker = passes,
        validate = |value| if *value > 2 { Ok(()) } else { Err(TRANSIENT) },
        correct = |value, _| Ok(value + 1))]
    async fn corrected(notes: &Notes, passes: &Passes) -> Result<u32, Failure> {
        Ok(1)
    }

    let (notes, passes) = (Notes::default(), Passes::default());
    assert_eq!(until(&notes, &passes).await, Ok(1));
    assert_eq!(cancellable(&notes, &passes).await, Ok(1));
    assert_eq!(validated(&notes, &passes).await, Err(TRANSIENT));
    // A correction is not an attempt.
    assert_eq!(corrected(&notes, &passes).await, Ok(3));
    assert_eq!(notes.take(), [AttemptOutcome::Success; 3 + 3 + 3 + 1]);
    assert_eq!(passes.0.take(), [AttemptOutcome::Success; 3 + 3 + 3 + 1]);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_until_rejected_is_returned() {
    #[retry(max = 5, backoff = "none", limiter = limiter, until = |_| false)]
    async fn waiting(limiter: &RateLimiter<Quota>) -> Result<u32, Failure> {
        Ok(7)
    }
    #[retry(max = 5, backoff = "none", limiter = limiter, until = |_| false, name = "blocking")]
    fn blocking(limiter: &RateLimiter<Quota>) -> Result<u32, Failure> {
        Ok(7)
    }
    #[retry(max = 5, limiter = limiter, until = |_| false, attempt = _attempt, deadline = "1h",
        cancel = token.cancelled())]
    async fn full(limiter: &RateLimiter<Quota>, token: CancellationToken) -> Result<u32, Failure> {
        Ok(7)
    }

    let recording = testing::record();
    let limiter = || each(600).max_wait(secs(1));
    assert_eq!(waiting(&limiter()).await, Ok(7));
    assert_eq!(blocking(&limiter()), Ok(7));
    assert_eq!(full(&limiter(), CancellationToken::new()).await, Ok(7));
    let line = "gave up blocking attempt=1 max=5 error=value rejected reason=rejected";
    assert!(recording.lines().iter().any(|other| other == line));
}

#[tokio::test(start_paused = true)]
async fn endings_contain_the_reason() {
    #[retry(max = 5, backoff = "none", limiter = limiter, give_up = |gave_up: GaveUp<Failure>| {
        reason.set(Some((gave_up.reason(), gave_up.attempts())));
        gave_up.into_error()
    })]
    fn shaped(
        limiter: &dyn AdmissionControl,
        reason: &Cell<Option<(Reason, u32)>>,
    ) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(max = 5, backoff = "none", limiter = limiter, deadline = "1m",
        fallback = async |gave_up: GaveUp<Failure>| Ok((gave_up.reason(), gave_up.attempts())))]
    async fn fallen(limiter: &RateLimiter<Quota>) -> Result<(Reason, u32), Failure> {
        Err(TRANSIENT)
    }

    let limiter = each(600).max_wait(secs(1));
    let reason = Cell::new(None);
    assert_eq!(shaped(&limiter, &reason), Err(TRANSIENT));
    assert_eq!(reason.get(), Some((Reason::Rejected, 1)));
    assert_eq!(shaped(&limiter, &reason), Err(STOP));
    assert_eq!(reason.get(), Some((Reason::Rejected, 0)));
    let limiter = each(600);
    assert_eq!(fallen(&limiter).await, Ok((Reason::Deadline, 1)));
    assert_eq!(fallen(&limiter).await, Ok((Reason::Deadline, 0)));
}

/// A client with a slow limiter.
struct Client {
    limiter: Arc<ConcurrencyLimiter>,
    passes: Arc<Notes>,
    attempts: AtomicU32,
}

impl Client {
    fn new() -> Self {
        Self {
            limiter: Arc::new(at_a_time(1)),
            passes: Arc::default(),
            attempts: AtomicU32::new(0),
        }
    }

    /// Checks that a breaker has recorded a failure and a success.
    fn assert_passes(&self) {
        assert_eq!(self.passes.take(), [FAILED, AttemptOutcome::Success]);
    }

    /// Fails the first time.
    fn answer(&self) -> Result<u32, Failure> {
        assert_eq!(self.limiter.running(), 1);
        match self.attempts.fetch_add(1, SeqCst) {
            0 => Err(TRANSIENT),
            attempts => Ok(attempts + 1),
        }
    }
}

#[retry(backoff = "none", limiter = &self.limiter, breaker = &self.passes)]
impl Client {
    fn blocking(&self) -> Result<u32, Failure> {
        self.answer()
    }

    async fn waiting(&self) -> Result<u32, Failure> {
        yield_now().await;
        self.answer()
    }

    fn future(&self) -> impl Future<Output = Result<u32, Failure>> {
        async { self.answer() }
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<u32, Failure>> + '_>> {
        Box::pin(async { self.answer() })
    }

    #[retry(limiter = Arc::clone(&self.limiter), breaker = Arc::clone(&self.passes))]
    async fn mutable(&mut self) -> Result<u32, Failure> {
        self.answer()
    }

    #[retry(stream = "first")]
    fn first(&self) -> impl Stream<Item = Result<u32, Failure>> {
        let answer = self.answer();
        stream::iter([answer])
    }

    #[retry(stream = "buffer")]
    fn buffered(&self) -> impl Stream<Item = Result<u32, Failure>> {
        stream::iter([Ok(1), self.answer()])
    }

    #[retry(stream = "resume", attempt = attempt)]
    fn resumed(&self) -> impl Stream<Item = Result<u32, Failure>> {
        assert_eq!(attempt.yielded(), 0);
        stream::iter([self.answer()])
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
    #[retry(backoff = "none", limiter = &self.limiter, breaker = &self.passes)]
    async fn complete(&self, _: String) -> Result<u32, Failure> {
        self.answer()
    }
}

#[retry(wrapper = Limited, backoff = "none", limiter = &LIMITED)]
trait Ask {
    async fn ask(&self, prompt: String) -> Result<u32, Failure>;
    fn ask_blocking(&self, prompt: String) -> Result<u32, Failure>;
}

static LIMITED: ConcurrencyLimiter = at_a_time(1);

impl Ask for AtomicU32 {
    async fn ask(&self, prompt: String) -> Result<u32, Failure> {
        self.ask_blocking(prompt)
    }

    fn ask_blocking(&self, _: String) -> Result<u32, Failure> {
        assert_eq!(LIMITED.running(), 1);
        match self.fetch_add(1, SeqCst) {
            0 => Err(TRANSIENT),
            attempts => Ok(attempts + 1),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_shape_waits_and_releases_its_slot_and_its_pass() {
    /// Holds the place until the call waits for it.
    async fn behind<T>(client: &Client, call: impl Future<Output = T>) -> T {
        let held = HeldPermit::new(&client.limiter);
        let (outcome, ()) = tokio::join!(call, async {
            while client.limiter.waiting() == 0 {
                yield_now().await;
            }
            drop(held);
        });
        assert_eq!((client.limiter.running(), client.limiter.waiting()), (0, 0));
        client.assert_passes();
        outcome
    }
    async fn all(items: impl Stream<Item = Result<u32, Failure>>) -> Vec<u32> {
        items.map(Result::unwrap).collect().await
    }

    let client = Client::new();
    assert_eq!(client.blocking(), Ok(2));
    client.assert_passes();
    let client = Client::new();
    assert_eq!(behind(&client, client.waiting()).await, Ok(2));
    let client = Client::new();
    assert_eq!(behind(&client, client.future()).await, Ok(2));
    let client = Client::new();
    assert_eq!(behind(&client, client.boxed()).await, Ok(2));
    let client = Client::new();
    assert_eq!(behind(&client, client.complete(String::new())).await, Ok(2));
    let client = Client::new();
    assert_eq!(behind(&client, all(client.first())).await, [2]);
    let client = Client::new();
    assert_eq!(behind(&client, all(client.buffered())).await, [1, 2]);
    let client = Client::new();
    assert_eq!(behind(&client, all(client.resumed())).await, [2]);
    let client = Client::new();
    let opened = behind(&client, client.opened()).await.unwrap();
    assert_eq!(all(opened).await, [2]);
    let mut client = Client::new();
    assert_eq!(client.mutable().await, Ok(2));
    client.assert_passes();
    let model = Limited::new(AtomicU32::new(0));
    assert_eq!(model.ask(String::new()).await, Ok(2));
    assert_eq!(LIMITED.running(), 0);
    let model = Limited::new(AtomicU32::new(0));
    assert_eq!(model.ask_blocking(String::new()), Ok(2));
    assert_eq!(LIMITED.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn every_key_works_with_a_limiter() {
    struct Instantly;

    impl retry_runtime::seam::Timer for Instantly {
        async fn sleep(&self, duration: Duration) {
            sleep(duration / 2).await;
        }
    }

    static BREAKER: Breaker = Breaker::new();

    #[retry(
        max = limiter.waiting() + 4,
        limiter = limiter.cost(2),
        breaker = &BREAKER,
        budget,
        timeout = "3s",
        deadline = "1m",
        attempt = attempt,
        repeats = 9,
        until = |value| *value > 2,
        validate = |value| if *value > 3 { Ok(()) } else { Err(TRANSIENT) },
        correct = async |value, _| Ok(value + 1),
        cancel = std::future::pending(),
        idempotent = true,
        timer = DefaultTimer,
        observe = |_| (),
        name = format!("call {suffix}"),
        fallback = async |gave_up: GaveUp<Failure, u32>| Err(gave_up.into_error()),
    )]
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
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(timed(&each(5), &mut script).await, Ok(2));
    assert_eq!(start.elapsed(), secs(5));
    // A timer that wakes too early is asked again.
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(clocked(&each(5), &mut script).await, Ok(2));
    assert!(start.elapsed() >= secs(10), "{:?}", start.elapsed());
}

/// Admits no attempt.
struct Never;

impl AdmissionControl for Never {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Rejected
    }

    fn leave(&self, _: Permit, end: AttemptOutcome) -> Changes {
        assert_eq!(end, AttemptOutcome::NotBegun);
        [None; 2]
    }
}

#[tokio::test]
async fn users_can_implement_a_limiter() {
    #[retry(limiter = &limiter, on = verdict)]
    async fn call(limiter: impl AdmissionControl) -> Result<(), Error> {
        Ok(())
    }

    let rejected = || Err(Error::Rejected(RejectedBy::Limiter));
    assert_eq!(call(Never).await, rejected());
    assert_eq!(call(&Never as &dyn AdmissionControl).await, rejected());
    assert_eq!(call(Rc::new(Never)).await, rejected());
    assert_eq!(call(Arc::new(Never)).await, rejected());
    let boxed: Box<dyn AdmissionControl> = Box::new(Never);
    assert_eq!(call(WithCost::new(boxed, 3)).await, rejected());
    let io = std::io::Error::from(Rejected::new(RejectedBy::Limiter));
    assert_eq!(io.to_string(), "rejected by the limiter");
}

#[test]
fn a_users_own_loop_can_use_a_limiter() {
    let limiter = at_a_time(1);
    let mut first = HeldPermit::new(&limiter);
    assert!(first.has_turn());
    let second = HeldPermit::new(&limiter);
    assert!(!second.has_turn());
    let mut third = HeldPermit::new(&limiter);
    assert_eq!((limiter.running(), limiter.waiting()), (1, 2));
    drop(second);
    assert_eq!(limiter.waiting(), 1);
    assert_eq!(first.succeeded(), UNCHANGED);
    assert_eq!(limiter.running(), 0);
    // Reported once.
    drop(first);
    assert_eq!(third.poll(Waker::noop()), Admission::Admitted);
    assert_eq!(limiter.running(), 1);
    third.give_back();
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
    // Never an attempt, never a charge.
    let quota = each(60);
    let place = HeldPermit::new(&quota);
    assert!(place.has_turn());
    place.give_back();
    assert!(HeldPermit::new(&quota).has_turn());
    assert!(!HeldPermit::new(&quota).has_turn());
}

#[test]
fn a_call_dropped_at_any_await_loses_nothing() {
    async fn pause(_: Duration) {
        yield_now().await;
    }
    #[retry(max = 2, limiter = limiter, breaker = breaker, budget = budget, timer = pause,
        cancel = std::future::pending())]
    async fn call(
        limiter: &ConcurrencyLimiter,
        breaker: &Breaker,
        budget: &Budget,
        script: &mut Script,
    ) -> Result<usize, Failure> {
        let outcome = script.next();
        yield_now().await;
        outcome
    }

    let mut context = Context::from_waker(Waker::noop());
    for polls in 0.. {
        let (limiter, breaker) = (at_a_time(1), Breaker::new());
        let budget = Budget::standard();
        let mut script = Script::new([TRANSIENT, TIMEOUT]);
        let mut ended = false;
        {
            let mut _held = Some(HeldPermit::new(&limiter));
            let mut future = pin!(call(&limiter, &breaker, &budget, &mut script));
            let mut behind = pin!(
                async {
                    let policy = Policy::none();
                    let site = Site::new(&policy, "behind");
                    let attempts = Attempts::new(&site).limiter(&limiter);
                    let mut attempts = attempts.timer(TimerFn::new(pause));
                    attempts.first().await.unwrap();
                }
                .fuse()
            );
            for poll in 0..polls {
                // First it waits for its turn with others behind it.
                if poll == 3 {
                    _held = None;
                }
                if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
                    assert_eq!(outcome, Ok(3));
                    ended = true;
                    break;
                }
                let _ = behind.as_mut().poll(&mut context);
                assert!(limiter.running() <= 1);
            }
        }
        assert_eq!((limiter.running(), limiter.waiting()), (0, 0), "{polls}");
        assert!(HeldPermit::new(&limiter).has_turn());
        // A retry that started is paid for; the success refunds the last one.
        let tokens = [500, 486, 472][script.attempts.saturating_sub(1).min(2)];
        let tokens = if ended { 486 } else { tokens };
        assert_eq!(
            budget.to_string(),
            format!("{tokens} of 500 tokens"),
            "{polls}"
        );
        if ended {
            // 3 polls in the queue, 3 attempts, 2 pauses that also yield.
            assert_eq!(polls, 3 + 3 + 2 * 2 + 1);
            return;
        }
    }
}

/// An attempt of the property test, asked only when it was woken.
#[derive(Debug)]
struct Queued {
    number: usize,
    ticket: Permit,
    has_turn: bool,
    woken: Arc<Woken>,
}

#[derive(Debug)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
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
            one.woken.0.store(false, SeqCst);
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
            let woken = |one: &Queued| !one.has_turn && one.woken.0.load(SeqCst);
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
                        woken: Arc::new(Woken(AtomicBool::new(true))),
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
