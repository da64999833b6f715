//! The key `breaker`: the breaker is checked before each attempt, and records its outcome.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use retry_protections::{Breaker, Keyed, Quota, RateLimiter};
use retry_runtime::own_loop::{Attempts, Site};
use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, BreakerState, Changes, Permit, RetryBudget,
};
use retry_runtime::{
    Budget, Cancelled, Cause, Classify, Event, EventData, GaveUp, Kind, Policy, Reason, Rejected,
    RejectedBy, Verdict, retry, testing,
};
use retry_work::retry_each;
use support::dropped::dropped_after;
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT};
use support::held_permit::{Admit, CLOSED, FAILED, HeldPermit};
use support::is_send;
use support::rows;
use tokio::task::yield_now;
use tokio::time::{advance, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::keys::{Script, millis, secs};

/// A breaker that opens at the second failure in a row.
const fn opens_after_two_failures() -> Breaker {
    Breaker::new().consecutive_failures(2)
}

/// Like `opens_after_two_failures`, but open.
pub(super) fn open() -> Breaker {
    let breaker = opens_after_two_failures();
    for _ in 0..2 {
        let pass = breaker.admit().expect("closed");
        let seen = AttemptOutcome::Failure {
            kind: Kind::Transient,
            hint: None,
        };
        breaker.record(pass, seen);
    }
    breaker
}

#[retry(max = 5, jitter = "none", name = "call", breaker = breaker)]
async fn call(breaker: &Breaker, script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_retrying_ends_with_its_last_error() {
    let recording = testing::record();
    let breaker = opens_after_two_failures();
    let mut script = Script::new([TIMEOUT, TRANSIENT, TIMEOUT]);
    assert_eq!(is_send(call(&breaker, &mut script)).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 2);
    assert_eq!(
        recording.lines(),
        [
            "retrying call attempt=1 max=5 delay=1s error=timeout reason=timeout",
            "breaker opened call attempt=2 delay=5s error=transient reason=consecutive failures",
            "retrying call attempt=2 max=5 delay=2s error=transient reason=transient",
            "gave up call attempt=2 max=5 error=transient reason=rejected",
        ]
    );
}

/// Each call fails once and then succeeds, so that no two failures are consecutive.
#[tokio::test(start_paused = true)]
async fn a_success_resets_consecutive_failures() {
    let (of_function, of_chain, of_batch) = (
        opens_after_two_failures(),
        opens_after_two_failures(),
        opens_after_two_failures(),
    );
    for _ in 0..5 {
        let mut script = Script::new([TRANSIENT]);
        assert_eq!(call(&of_function, &mut script).await, Ok(2), "function");
        let script = RefCell::new(Script::new([TRANSIENT]));
        let chain = Policy::new().breaker(&of_chain);
        let called = chain.call(async || script.borrow_mut().next());
        assert_eq!(called.await, Ok(2), "chain");
        let script = RefCell::new(Script::new([TRANSIENT]));
        let send = async |_: Vec<u32>| Ok(vec![script.borrow_mut().next()]);
        let sent = retry_each(Policy::new().breaker(&of_batch), [1], send).await;
        assert!(sent[0].is_ok(), "batch");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_as_long_as_it_is_open_leads_to_a_trial() {
    let recording = testing::record();
    let breaker = opens_after_two_failures().open_for(secs(2));
    let mut script = Script::new([TRANSIENT, TRANSIENT]);
    assert_eq!(call(&breaker, &mut script).await, Ok(3));
    assert_eq!(breaker.state(), BreakerState::Closed);
    let lines = recording.lines();
    assert_eq!(
        lines[3..],
        [
            "breaker half open call attempt=3 reason=open for long enough",
            "breaker closed call attempt=3 reason=trial call succeeded",
            "succeeded call attempt=3 max=5",
        ]
    );
}

/// The failure isn't worth a retry, but the server is down.
#[tokio::test(start_paused = true)]
async fn non_retried_failures_still_count_towards_the_breaker() {
    for (verdict, is_open) in [
        (Verdict::TRANSIENT.once(), true),
        (Verdict::TIMEOUT.once(), true),
        (Verdict::THROTTLED.once(), false),
        (Verdict::STOP.once(), false),
        (Verdict::STOP, false),
    ] {
        let breaker = Breaker::new().count_window(1);
        let mut script = Script::new([Failure(verdict)]);
        assert_eq!(call(&breaker, &mut script).await, Err(Failure(verdict)));
        assert_eq!(script.attempts, 1);
        let state = if is_open {
            BreakerState::Open
        } else {
            BreakerState::Closed
        };
        assert_eq!(breaker.state(), state, "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_rejected_makes_no_attempt() {
    let recording = testing::record();
    let mut script = Script::new([]);
    assert_eq!(call(&open(), &mut script).await, Err(STOP));
    assert_eq!(script.attempts, 0);
    let line = "gave up call attempt=0 max=5 error=stop reason=rejected";
    assert_eq!(recording.lines(), [line]);
}

#[test]
fn the_max_is_reported_for_every_form_of_max() {
    #[retry(max = max, breaker = breaker, name = "call")]
    fn expression(max: u32, breaker: &Breaker) -> Result<(), Failure> {
        Ok(())
    }
    #[retry(policy = Policy::new().max(max), breaker = breaker, name = "call")]
    fn policy(max: u32, breaker: &Breaker) -> Result<(), Failure> {
        Ok(())
    }
    #[retry(max = 7, throttled(max = 9), breaker = breaker, name = "call")]
    fn section(breaker: &Breaker) -> Result<(), Failure> {
        Ok(())
    }
    #[retry(max = max, breaker = breaker, name = "call", observe = |_| ())]
    fn observed(max: u32, breaker: &Breaker) -> Result<(), Failure> {
        Ok(())
    }

    let recording = testing::record();
    let breaker = open();
    expression(7, &breaker).unwrap_err();
    policy(7, &breaker).unwrap_err();
    section(&breaker).unwrap_err();
    observed(7, &breaker).unwrap_err();
    let line = "gave up call attempt=0 max=7 error=stop reason=rejected";
    assert_eq!(recording.lines(), [line; 4]);
}

/// The calls of a breaker's methods.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<AttemptOutcome>>, AtomicU32, AtomicU64);

impl AdmissionControl for Notes {
    fn enter(&self, cost: u32) -> Permit {
        self.1.fetch_add(1, SeqCst);
        Permit::new(self.2.fetch_add(1, SeqCst), cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        Admission::Admitted
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        assert_eq!(permit.number(), self.0.lock().unwrap().len() as u64);
        self.0.lock().unwrap().push(outcome);
        [None; 2]
    }
}

#[test]
fn the_verdict_decides_what_the_breaker_counts() {
    scripted! { #[retry(max = 9, backoff = "none", breaker = notes)] fn call(notes: &Notes); }

    let notes = Notes::default();
    let hinted = Failure(Verdict::TRANSIENT.after(secs(0)));
    let invalid = Failure(Verdict::INVALID);
    let steps = [TRANSIENT, TIMEOUT, THROTTLED, invalid, hinted, STOP];
    call(&notes, &mut Script::new(steps)).unwrap_err();
    assert_eq!(
        *notes.0.lock().unwrap(),
        [
            FAILED,
            AttemptOutcome::Failure {
                kind: Kind::Timeout,
                hint: None,
            },
            AttemptOutcome::Failure {
                kind: Kind::Throttled,
                hint: None,
            },
            AttemptOutcome::Success,
            AttemptOutcome::Failure {
                kind: Kind::Transient,
                hint: Some(secs(0)),
            },
            AttemptOutcome::Success,
        ]
    );
    assert_eq!(notes.1.load(SeqCst), 6);
}

/// There was no response, even if `on` returns another verdict.
#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_timed_out() {
    #[retry(max = 1, timeout = "1s", breaker = notes, budget = budget, on = |_| retries)]
    async fn call(notes: &Notes, budget: &Budget, retries: bool) -> Result<(), Failure> {
        pending().await
    }

    let timed_out = AttemptOutcome::Failure {
        kind: Kind::Timeout,
        hint: None,
    };
    for (retries, attempts, left) in [(false, 1, 486), (true, 2, 472)] {
        let (notes, budget) = (Notes::default(), Budget::standard());
        assert!(budget.withdraw(Kind::Transient));
        call(&notes, &budget, retries).await.unwrap_err();
        assert_eq!(*notes.0.lock().unwrap(), vec![timed_out; attempts]);
        assert_eq!(budget.to_string(), format!("{left} of 500 tokens"));
    }
}

/// A boxed error that no type is known of, from an attempt or a chain.
#[tokio::test]
async fn an_error_of_an_unknown_type_is_ignored() {
    #[retry(max = 1, backoff = "none", breaker = notes, budget = budget)]
    fn call(notes: &Notes, budget: &Budget, text: &'static str) -> anyhow::Result<()> {
        Err(anyhow::anyhow!(text))
    }
    #[retry(max = 1, backoff = "none", breaker = notes, budget = budget)]
    fn known(notes: &Notes, budget: &Budget) -> anyhow::Result<()> {
        Err(io::Error::from(io::ErrorKind::NotFound).into())
    }

    let (notes, budget) = (Notes::default(), Budget::standard());
    assert!(budget.withdraw(Kind::Transient));
    call(&notes, &budget, "busy").unwrap_err();
    let chain = Policy::new().budget(&budget).breaker(&notes);
    let chained = chain.call(async || Err::<(), _>(anyhow::anyhow!("busy")));
    chained.await.unwrap_err();
    assert_eq!(*notes.0.lock().unwrap(), [AttemptOutcome::Ignored; 2]);
    assert_eq!(budget.to_string(), "486 of 500 tokens");
    // A known response counts as one.
    known(&notes, &budget).unwrap_err();
    assert_eq!(notes.0.lock().unwrap()[2..], [AttemptOutcome::Success]);
    assert_eq!(budget.to_string(), "487 of 500 tokens");
}

/// A rejection or a cancellation of a call within the attempt.
#[test]
fn a_rejection_of_an_inner_call_is_ignored() {
    const REJECTED: Rejected = Rejected::new(RejectedBy::Breaker);

    #[derive(Debug, Classify)]
    enum Own {
        #[classify(transparent)]
        Rejected(Rejected),
    }
    #[retry(max = 1, backoff = "none", breaker = notes, budget = budget, limiter = limiter)]
    fn call<E: Classify + From<Rejected>>(
        notes: &Notes,
        budget: &Budget,
        limiter: &RateLimiter<Quota>,
        fail: fn() -> E,
    ) -> Result<(), E> {
        Err(fail())
    }
    impl From<Rejected> for Own {
        fn from(rejected: Rejected) -> Self {
            Self::Rejected(rejected)
        }
    }

    let (notes, budget) = (Notes::default(), Budget::standard());
    let limiter = RateLimiter::fixed(1, secs(60)).burst(5);
    assert!(budget.withdraw(Kind::Transient));
    let recording = testing::record();
    call::<Own>(&notes, &budget, &limiter, || REJECTED.into()).unwrap_err();
    call::<io::Error>(&notes, &budget, &limiter, || REJECTED.into()).unwrap_err();
    call::<anyhow::Error>(&notes, &budget, &limiter, || REJECTED.into()).unwrap_err();
    assert!(limiter.available() > 4.5, "nothing was sent");
    call::<io::Error>(&notes, &budget, &limiter, || Cancelled::new().into()).unwrap_err();
    assert!((3.5..4.5).contains(&limiter.available()));
    assert_eq!(notes.0.lock().unwrap()[..3], [AttemptOutcome::NotBegun; 3]);
    assert_eq!(notes.0.lock().unwrap()[3..], [AttemptOutcome::Ignored]);
    assert_eq!(budget.to_string(), "486 of 500 tokens");
    let lines = recording.lines();
    assert!(
        !lines.iter().any(|line| line.contains("known")),
        "{lines:?}"
    );
}

/// The outer call's trial is not a response: it doesn't close the breaker, and leaves a slot for the inner call.
#[tokio::test(start_paused = true)]
async fn layers_that_share_a_breaker_close_it_only_after_a_request() {
    #[retry(max = 0, breaker = breaker)]
    async fn inner(breaker: &Breaker, sent: &Cell<u32>) -> io::Result<()> {
        sent.set(sent.get() + 1);
        Ok(())
    }
    #[retry(max = 0, breaker = breaker)]
    async fn outer(breaker: &Breaker, sent: &Cell<u32>) -> io::Result<()> {
        inner(breaker, sent).await
    }

    #[retry(max = 0, limiter = breaker)]
    async fn outer_that_waits(breaker: &Breaker, sent: &Cell<u32>) -> io::Result<()> {
        inner(breaker, sent).await
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

#[test]
fn a_returned_value_is_a_response_with_any_other_keys() {
    #[retry(max = 2, backoff = "none", breaker = notes, until = |_| false)]
    fn until(notes: &Notes) -> Result<u32, Failure> {
        Ok(1)
    }
    #[retry(max = 2, backoff = "none", breaker = notes, validate = |_| Err(TRANSIENT))]
    fn validated(notes: &Notes) -> Result<u32, Failure> {
        Ok(1)
    }
    #[retry(max = 2, backoff = "none", breaker = notes, validate = |value| if *value > 2 { Ok(()) } else { Err(TRANSIENT) },
        correct = |value, _| Ok(value + 1))]
    fn corrected(notes: &Notes) -> Result<u32, Failure> {
        Ok(1)
    }

    let notes = Notes::default();
    assert_eq!(until(&notes), Ok(1));
    assert_eq!(*notes.0.lock().unwrap(), [AttemptOutcome::Success; 3]);
    let notes = Notes::default();
    assert_eq!(validated(&notes), Err(TRANSIENT));
    assert_eq!(*notes.0.lock().unwrap(), [AttemptOutcome::Success; 3]);
    // A correction is not an attempt.
    let notes = Notes::default();
    assert_eq!(corrected(&notes), Ok(3));
    assert_eq!(*notes.0.lock().unwrap(), [AttemptOutcome::Success]);
    assert_eq!(notes.1.load(SeqCst), 1);
}

#[test]
fn a_breaker_works_without_retries() {
    #[retry(max = 0, breaker = notes)]
    fn once(notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(enabled = false, breaker = notes)]
    fn off(notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(policy = policy, breaker = notes)]
    fn off_by_policy(policy: &Policy, notes: &Notes) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    let notes = Notes::default();
    once(&notes).unwrap_err();
    off(&notes).unwrap_err();
    off_by_policy(&Policy::new().enabled(false), &notes).unwrap_err();
    assert_eq!(*notes.0.lock().unwrap(), [FAILED; 3]);
}

#[tokio::test(start_paused = true)]
async fn endings_contain_the_reason() {
    #[retry(max = 5, backoff = "none", breaker = breaker, give_up = |gave_up: GaveUp<Failure>| {
        reason.set(Some((gave_up.reason(), gave_up.attempts())));
        gave_up.into_error()
    })]
    fn shaped(
        breaker: &dyn AdmissionControl,
        reason: &Cell<Option<(Reason, u32)>>,
    ) -> Result<(), Failure> {
        Err(TRANSIENT)
    }
    #[retry(max = 5, breaker = breaker, fallback = async |gave_up: GaveUp<Failure>| {
        Ok((gave_up.reason(), gave_up.attempts()))
    })]
    async fn fallen(breaker: &Breaker) -> Result<(Reason, u32), Failure> {
        Err(TRANSIENT)
    }

    let reason = Cell::new(None);
    assert_eq!(shaped(&open(), &reason), Err(STOP));
    assert_eq!(reason.get(), Some((Reason::Rejected, 0)));
    assert_eq!(shaped(&opens_after_two_failures(), &reason), Err(TRANSIENT));
    assert_eq!(reason.get(), Some((Reason::Rejected, 2)));
    assert_eq!(fallen(&open()).await, Ok((Reason::Rejected, 0)));
    assert_eq!(
        fallen(&opens_after_two_failures()).await,
        Ok((Reason::Rejected, 2))
    );
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
    assert_eq!(
        recording.lines()[1..],
        ["breaker opened call attempt=1 delay=5s reason=failure ratio"]
    );
}

#[test]
fn observers_see_each_change_once() {
    #[retry(max = 5, backoff = "none", breaker = breaker, observe = |event: &Event<'_>| match event.data {
        EventData::BreakerOpened { cause, open_for, .. } => {
            seen.push(format!("{cause} {open_for:?} {}", event.attempt));
        }
        EventData::BreakerHalfOpened => seen.push(format!("half open {}", event.attempt)),
        EventData::BreakerClosed => seen.push(format!("closed {}", event.attempt)),
        EventData::GaveUp { reason, .. } => seen.push(reason.to_string()),
        _ => {}
    })]
    fn call(
        breaker: &Breaker,
        script: &mut Script,
        seen: &mut Vec<String>,
    ) -> Result<usize, Failure> {
        script.next()
    }

    let skipped = testing::skip_sleeps();
    let breaker = opens_after_two_failures();
    let mut seen = Vec::new();
    call(
        &breaker,
        &mut Script::new([TRANSIENT, TRANSIENT]),
        &mut seen,
    )
    .unwrap_err();
    call(&breaker, &mut Script::new([]), &mut seen).unwrap_err();
    five_seconds(&mut Script::new([TRANSIENT])).unwrap();
    call(&breaker, &mut Script::new([]), &mut seen).unwrap();
    call(&breaker, &mut Script::new([]), &mut seen).unwrap();
    assert_eq!(
        seen,
        [
            "consecutive failures 5s 2",
            "rejected",
            "rejected",
            "half open 1",
            "closed 1"
        ]
    );
    assert_eq!(skipped.total(), secs(5));
}

/// Skips five seconds.
#[retry(max = 1, backoff = "fixed", base = "5s", jitter = "none")]
fn five_seconds(script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_request_a_permit() {
    #[retry(max = 5, jitter = "none", breaker = notes, cancel = token.cancelled(), name = "call")]
    async fn call(notes: &Notes, token: &CancellationToken) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    let recording = testing::record();
    let notes = Notes::default();
    let token = CancellationToken::new();
    let (outcome, ()) = tokio::join!(call(&notes, &token), async { token.cancel() });
    assert_eq!(outcome, Err(TRANSIENT));
    assert_eq!(notes.1.load(SeqCst), 1);
    let last = recording.lines().pop().unwrap();
    assert!(last.ends_with("reason=cancelled"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_breaker_works_with_a_deadline_and_a_custom_timer() {
    #[retry(max = 5, jitter = "none", breaker = breaker, deadline = "1h", attempt = attempt,
        timer = retry_runtime::seam::DefaultTimer, give_up = |gave_up: GaveUp<Failure>| {
            assert_eq!(gave_up.elapsed(), elapsed);
            assert_eq!(gave_up.reason(), Reason::Rejected);
            gave_up.into_error()
        })]
    async fn call(breaker: &Breaker, elapsed: Duration) -> Result<(), Failure> {
        assert!(attempt.number() < 3);
        Err(TRANSIENT)
    }

    assert_eq!(call(&open(), secs(0)).await, Err(STOP));
    assert_eq!(
        call(&opens_after_two_failures(), secs(1 + 2)).await,
        Err(TRANSIENT)
    );
}

#[test]
fn a_breaker_may_be_per_key_or_in_an_arc_with_a_mutable_self() {
    struct Agent {
        breaker: Arc<Breaker>,
        attempts: u32,
    }

    impl Agent {
        #[retry(max = 5, backoff = "none", breaker = Arc::clone(&self.breaker))]
        fn step(&mut self) -> Result<(), Failure> {
            self.attempts += 1;
            Err(TRANSIENT)
        }
    }

    #[retry(max = 5, backoff = "none", breaker = hosts.of(host))]
    fn fetch(hosts: &Keyed<String, Breaker>, host: &str) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    let mut agent = Agent {
        breaker: Arc::new(opens_after_two_failures()),
        attempts: 0,
    };
    agent.step().unwrap_err();
    assert_eq!(agent.attempts, 2);
    let hosts = Keyed::new(10, opens_after_two_failures);
    fetch(&hosts, "a").unwrap_err();
    assert_eq!(Breaker::state(&hosts.of("a")), BreakerState::Open);
    assert_eq!(fetch(&hosts, "a"), Err(STOP));
    assert_eq!(Breaker::state(&hosts.of("b")), BreakerState::Closed);
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
    let mut script = Script::new([THROTTLED]);
    assert_eq!(call(&breaker, &mut script).await, Ok(2));
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
async fn a_dropped_attempt_of_a_stream_releases_its_slot() {
    #[retry(max = 2, breaker = breaker, stream = "buffer")]
    fn items(breaker: &Breaker) -> impl Stream<Item = Result<u32, Failure>> + '_ {
        stream::once(async {
            sleep(secs(60)).await;
            Ok(1)
        })
    }

    let breaker = half_open().await;
    timeout(secs(1), pin!(items(&breaker)).next())
        .await
        .unwrap_err();
    assert_eq!(pin!(items(&breaker)).next().await, Some(Ok(1)));
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_panic_releases_its_slot() {
    #[retry(breaker = breaker)]
    fn body(breaker: &Breaker) -> Result<(), Failure> {
        panic!("the body");
    }
    #[retry(breaker = breaker, on = |_| -> bool { panic!("the key") })]
    fn key(breaker: &Breaker) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    let breaker = half_open().await;
    for call in [body, key] {
        let panicked = catch_unwind(AssertUnwindSafe(|| call(&breaker)));
        assert!(panicked.is_err());
        drop(HeldPermit::admitted(&breaker).expect("the place is free"));
    }
}

#[test]
fn a_users_own_loop_reports_to_the_breaker() {
    let recording = testing::record();
    let breaker = Breaker::new().consecutive_failures(1);
    let policy = Policy::none();
    let site = Site::new(&policy, "own");
    let mut attempts = Attempts::new(&site).breaker(&breaker);
    attempts.first_blocking().unwrap();
    attempts.failed_if("x", Verdict::TRANSIENT).unwrap();
    assert!(HeldPermit::admitted(&breaker).is_none());
    let opened = "breaker opened own attempt=1 delay=5s error=x reason=consecutive failures";
    assert_eq!(recording.lines()[0], opened);
    assert_eq!(Cause::Consecutive.to_string(), "consecutive failures");
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
