//! The key `limiter`: waits, their order and length, and reports.

use std::future::Future;
use std::sync::atomic::Ordering::SeqCst;

use futures::future::{FutureExt, join_all};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use retry_runtime::seam::{Change, WithCost};
use support::clock::Simulated;
use support::held_permit::{FAILED, UNCHANGED, hinted};
use support::limiters::{at_a_time, each};
use support::prelude::*;

use super::cancel::Woken;

/// The error of a call that was rejected.
#[derive(Classify, Debug, PartialEq)]
#[classify(stop)]
struct Error(RejectedBy);

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.by())
    }
}

#[retry(limiter = &limiter)]
async fn begin(limiter: impl AdmissionControl, started: Instant) -> Result<Duration, Failure> {
    Ok(started.elapsed())
}

/// Among attempts with the same key.
#[tokio::test(start_paused = true)]
async fn attempts_start_in_order_and_a_large_cost_is_not_overtaken() {
    let models: Keyed<char, RateLimiter<Quota>> = Keyed::new(9, || each(1));
    let start = Instant::now();
    let attempts = rows! {
        'a', 1, 0;
        'a', 1, 1;
        'b', 1, 0;
        'a', 4, 2;
        'a', 1, 6;
        'a', 0, 6;
        'b', 1, 1;
        'a', 2, 7;
        'a', 1, 9;
    };
    let with_cost = |model, cost| WithCost::new(models.of(&model), cost);
    let calls = attempts.map(|(model, cost, _)| begin(with_cost(model, cost), start));
    let begun = join_all(calls).await;
    assert_eq!(begun, attempts.map(|(.., at)| Ok(secs(at))));
    assert_eq!(['a', 'b'].map(|model| models.of(&model).waiting()), [0, 0]);
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
}

/// As behind other waiters.
#[tokio::test(start_paused = true)]
async fn a_wait_of_unknown_length_ends_when_the_call_must() {
    scripted! {
        #[retry(limiter = limiter, deadline = "5s")]
        async fn late(limiter: &ConcurrencyLimiter) -> Result<(), Error> = Ok(());
        #[retry(limiter = limiter, cancel = sleep(secs(7)))]
        async fn cancelled(limiter: &ConcurrencyLimiter) -> Result<(), Error> = Ok(());
        #[retry(limiter = limiter)]
        async fn impatient(limiter: &ConcurrencyLimiter) -> Result<(), Error> = Ok(());
        #[retry(limiter = limiter, cancel = || asked.fetch_add(1, SeqCst) > 1)]
        fn blocking(limiter: &ConcurrencyLimiter, asked: &AtomicU32) -> Result<(), Error> = Ok(());
    }

    let (limiter, start) = (at_a_time(1).max_wait(secs(9)), Instant::now());
    let _held = HeldPermit::new(&limiter);
    let ended = |outcome| (outcome, start.elapsed(), limiter.waiting());
    let rejected = |by, seconds| (Err(Error(by)), secs(seconds), 0);
    assert_rows! {
        ended(late(&limiter).await) => rejected(RejectedBy::Deadline, 5);
        ended(is_send(cancelled(&limiter)).await) => rejected(RejectedBy::Cancelled, 5 + 7);
        ended(impatient(&limiter).await) => rejected(RejectedBy::Limiter, 5 + 7 + 9);
        ended(blocking(&limiter, &AtomicU32::new(0))) => rejected(RejectedBy::Cancelled, 5 + 7 + 9);
    }
}

/// After a pause, a success may admit the next attempt at any time.
#[tokio::test(start_paused = true)]
async fn a_call_with_milliseconds_left_still_waits() {
    scripted! {
        #[retry(limiter = limiter)]
        async fn call(limiter: &ConcurrencyLimiter, took: Duration) -> Result<(), Error> = { sleep(took).await; Ok(()) };
    }

    for (took, second) in rows! {
        5, Ok(());
        15, Err(Error(RejectedBy::Limiter));
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

/// It counts against the deadline, but not against the timeout.
#[tokio::test(start_paused = true)]
async fn the_wait_for_a_later_attempt_can_end_the_call() {
    scripted! {
        #[retry(max = 9, backoff = "none", limiter = limiter, deadline = "5s", timeout = "1s")]
        async fn late(limiter: &RateLimiter<Quota>, script: &mut Script) -> Result<usize, Failure> = {
            sleep(millis(500)).await;
            script.next()
        };
        #[retry(max = 9, backoff = "none", limiter = limiter, cancel = sleep(secs(7)))]
        async fn cancelled(limiter: &RateLimiter<Quota>);
    }

    let (recording, start) = (testing::record(), Instant::now());
    // Attempts start at 0, 2 and 4 s; the next would start at 6 s.
    let ran = run!([TRANSIENT; 9], |script| late(&each(2), script).await);
    assert_eq!((ran, start.elapsed()), ((Err(TRANSIENT), 3), millis(4_500)));
    let limiter = each(60);
    let ran = run!([TRANSIENT; 9], |script| cancelled(&limiter, script).await);
    assert_eq!(ran, (Err(TRANSIENT), 1));
    assert_eq!((start.elapsed(), limiter.waiting()), (millis(11_500), 0));
    assert_eq!(recording.reasons(), [Reason::Deadline, Reason::Cancelled]);
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
    let running = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    call(&limiter, &running).unwrap();
                }
            });
        }
    });
    assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
}

/// The limiter sees the time of the call's timer pass.
#[test]
fn a_blocking_wait_passes_by_the_timer_of_the_call_or_is_skipped() {
    scripted! {
        #[retry(max = 2, backoff = "none", limiter = limiter, timer = time)]
        fn timed(limiter: &RateLimiter<Quota>, time: &Simulated);
        #[retry(max = 2, backoff = "none", limiter = limiter)]
        fn by_default(limiter: &RateLimiter<Quota>);
    }

    let (time, skipped) = (Simulated::new(), testing::skip_sleeps());
    let script = || Script::new([TRANSIENT; 2]);
    assert_eq!(timed(&each(600), &time, &mut script()), Ok(3));
    assert_eq!(by_default(&each(600), &mut script()), Ok(3));
    for waited in [time.passed(), skipped.total()] {
        // The limiter's clock advances a little between two attempts.
        assert!((secs(1_199)..=secs(1_200)).contains(&waited), "{waited:?}");
    }
}

/// A runtime's paused clock, which the limiter uses, stands still while a thread waits.
#[tokio::test(start_paused = true)]
async fn a_blocking_wait_ends_under_a_paused_clock() {
    scripted! { #[retry(max = 2, backoff = "none", limiter = limiter)] fn call(limiter: &RateLimiter<Quota>); }

    let limiter = RateLimiter::fixed(100, secs(1));
    let began = std::time::Instant::now();
    assert_eq!(call(&limiter, &mut Script::new([TRANSIENT; 2])), Ok(3));
    assert!(began.elapsed() >= millis(20));
    // The waits of async calls include the time that has passed for the thread.
    let start = Instant::now();
    assert!(limiter.available() < 1.0);
    advance(millis(10)).await;
    assert!(limiter.available() > 0.99);
    assert_eq!(start.elapsed(), millis(10));
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
    scripted! {
        #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", limiter = limiter, name = "call",
            observe = |event| seen.borrow_mut().push(event.to_string()))]
        async fn call(limiter: &ConcurrencyLimiter, script: &mut Script, seen: &RefCell<Vec<String>>)
            -> Result<usize, Failure> = {
            sleep(secs(1)).await;
            script.next()
        };
    }

    let (recording, limiter, seen) = (testing::record(), at_a_time(1), RefCell::default());
    let mut throttled = Script::new([throttled_for(secs(5))]);
    let mut ready = Script::default();
    let first = call(&limiter, &mut throttled, &seen);
    let second = call(&limiter, &mut ready, &seen);
    assert_eq!(tokio::join!(first, second), (Ok(2), Ok(1)));
    let events = [
        "starting call attempt=1",
        "waiting call attempt=1 ahead=0",
        "limiter paused call attempt=1 delay=5s",
        "retrying call attempt=1 max=1 delay=5s error=throttled reason=throttled",
        "waited call attempt=1 delay=6s",
        "starting call attempt=1",
        "waiting call attempt=2 ahead=0 delay=20ms",
        "limiter resumed call attempt=1",
        "succeeded call attempt=1 max=1",
        "waited call attempt=2 delay=1s",
        "starting call attempt=2",
        "succeeded call attempt=2 max=1",
    ];
    assert_eq!(seen.into_inner(), events);
    // The log has neither the beginning of an attempt nor the success of the first.
    assert_eq!(recording.lines().len(), events.len() - 3 - 1);
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_wakes_too_early_is_asked_again() {
    scripted! {
        #[retry(backoff = "none", limiter = limiter, timer = |pause| sleep(pause / 2))]
        async fn call(limiter: &RateLimiter<Quota>);
    }

    let start = Instant::now();
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(call(&each(5), &mut script).await, Ok(2));
    assert!(start.elapsed() >= secs(5), "{:?}", start.elapsed());
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
        #[retry(limiter = &limiter)]
        async fn call(limiter: impl AdmissionControl) -> Result<(), Error> = Ok(());
    }

    let rejected = || Err(Error(RejectedBy::Limiter));
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

const ENDS: &[AttemptOutcome] = &[
    AttemptOutcome::Success,
    FAILED,
    AttemptOutcome::Ignored,
    AttemptOutcome::NotBegun,
];

/// An attempt of the property test, asked only when it was woken.
#[derive(Debug)]
struct Queued {
    number: usize,
    ticket: Permit,
    has_turn: bool,
    woken: Arc<Woken>,
}

proptest! {
    /// The steps: one enters; one of those that were woken asks; or one leaves, be it waiting or running.
    #[test]
    fn no_overtaking_and_no_lost_slot_in_any_order(
        limit in 1..5_u32,
        steps in vec((0..3_u8, 0..7_u32, any::<Index>(), select(ENDS)), 0..200),
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
        for (step, cost, index, end) in steps {
            match step {
                0 => {
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
                1 => {
                    let due = due(&all);
                    if !due.is_empty() {
                        ask(&mut all, *index.get(&due));
                    }
                }
                _ => {
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
