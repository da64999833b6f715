//! The key `timer` in blocking code, with a clock that only sleeping advances.

use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::seam::{BlockingTimer, CancelFn, Moment};
use support::clock::Simulated;
use support::limiters::at_a_time;
use support::prelude::*;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// Makes two calls in batches that fail as a whole. Returns the reasons.
macro_rules! fail_in_batches {
    ($batches:expr) => {{
        let fail = |_| Err::<Vec<Result<(), _>>, _>(TRANSIENT);
        let results = retry_each_blocking($batches, [1, 2], fail).into_iter();
        let reasons = results.map(|result| result.unwrap_err().reason());
        reasons.collect::<Vec<_>>()
    }};
}

#[test]
fn a_blocking_timer_sleeps_in_every_form() {
    scripted! {
        #[retry(max = 2, jitter = "none", timer = &**timer)] fn by_reference(timer: &Arc<Simulated>) = Err(TRANSIENT);
        #[retry(max = 2, jitter = "none", timer = Arc::clone(timer))]
        fn by_pointer(timer: &Arc<Simulated>) = Err(TRANSIENT);
        #[retry(max = 2, jitter = "none", timer = |pause| BlockingTimer::sleep(&**timer, pause))]
        fn by_closure(timer: &Arc<Simulated>) = Err(TRANSIENT);
    }

    fn by_expression(timer: &Arc<Simulated>) -> Result<(), Failure> {
        retrying!(max = 2, jitter = "none", timer = timer, { Err(TRANSIENT) })
    }

    fn by_chain(timer: &Arc<Simulated>) -> Result<(), Failure> {
        let chain = EXACT.max(2).timer(&**timer);
        chain.call_blocking(|| Err(TRANSIENT))
    }

    fn by_batch(timer: &Arc<Simulated>) -> Result<(), Failure> {
        let policy = EXACT.max(2).timer(&**timer);
        drop(fail_in_batches!(policy.batches(1).concurrency(2)));
        Err(TRANSIENT)
    }

    for (form, call) in rows! {
        "reference", by_reference as fn(&Arc<Simulated>) -> _;
        "pointer", by_pointer;
        "closure", by_closure;
        "expression", by_expression;
        "chain", by_chain;
        "batch", by_batch;
    } {
        let timer = Arc::new(Simulated::new());
        assert_eq!(call(&timer), Err(TRANSIENT), "{form}");
        assert_eq!(timer.slept(), [1, 2].map(secs), "{form}");
    }
}

#[test]
fn deadlines_use_the_timers_clock() {
    scripted! {
        #[retry(max = 9, jitter = "none", deadline = "7s", timer = timer, name = "call")]
        fn with_deadline(timer: &Simulated) = Err(TRANSIENT);
        #[retry(policy = EXACT.max(9).deadline(secs(7)), timer = timer, name = "call")]
        fn with_policy(timer: &Simulated) = Err(TRANSIENT);
    }

    fn with_chain(timer: &Simulated) -> Result<(), Failure> {
        let policy = EXACT.max(9).deadline(secs(7)).name("call");
        policy.timer(timer).call_blocking(|| Err(TRANSIENT))
    }

    for call in [with_deadline, with_policy, with_chain] {
        // If a timer oversleeps, no attempt starts after the deadline.
        for (timer, delays) in rows! {
            Simulated::new(), vec![1, 2, 4];
            Simulated::oversleeping(secs(3600)), vec![1];
        } {
            let recording = testing::record();
            call(&timer).unwrap_err();
            let line = format!(
                "gave up call attempt={} max=9 error=transient reason=deadline",
                if delays.len() > 1 { 4 } else { 1 }
            );
            assert_eq!(recording.lines().pop(), Some(line));
            let delays = delays.into_iter().map(secs);
            assert_eq!(recording.delays(), delays.collect::<Vec<_>>());
        }
    }
    let timer = Simulated::new();
    let policy = EXACT.max(9).deadline(secs(7)).timer(&timer);
    assert_eq!(fail_in_batches!(policy.batches(2)), [Reason::Deadline; 2]);
    assert_eq!(timer.slept(), [1, 2, 4].map(secs));
}

#[test]
fn elapsed_times_use_the_timers_clock() {
    scripted! {
        #[retry(max = 2, jitter = "none", attempt = attempt, timer = timer,
            give_up = |gave_up: GaveUp<Failure>| { elapsed.push(gave_up.elapsed()); gave_up.into_error() })]
        fn call(timer: &Simulated, elapsed: &mut Vec<Duration>) = {
            elapsed.push(attempt.elapsed());
            Err(TRANSIENT)
        };
    }

    let mut elapsed = Vec::new();
    call(&Simulated::new(), &mut elapsed).unwrap_err();
    assert_eq!(elapsed, [0, 1, 3, 3].map(secs));

    let (timer, seen) = (Simulated::new(), Mutex::new(Vec::new()));
    let see = |elapsed| seen.lock().unwrap().push(elapsed);
    let chain = EXACT.max(2).timer(&timer);
    let chain = chain.fallback(|gave_up: GaveUp<Failure>| {
        see(gave_up.elapsed());
        Err(gave_up.into_error())
    });
    let outcome = chain.call_attempt_blocking(|attempt| {
        see(attempt.elapsed());
        Err::<(), _>(TRANSIENT)
    });
    outcome.unwrap_err();
    assert_eq!(*seen.lock().unwrap(), [0, 1, 3, 3].map(secs));
}

#[test]
fn cancellation_is_polled_between_short_sleeps() {
    scripted! {
        #[retry(max = 9, backoff = "fixed", base = "25ms", jitter = "none", cancel = is_down, timer = timer, name = "call")]
        fn call(timer: &Simulated, is_down: impl Fn() -> bool + Copy) = Err(TRANSIENT);
    }

    let timer = Simulated::new();
    let recording = testing::record();
    call(&timer, || timer.passed() >= millis(35)).unwrap_err();
    assert_eq!(timer.slept(), [10, 10, 5, 10].map(millis));
    let line = "gave up call attempt=2 max=9 error=transient reason=cancelled";
    assert_eq!(recording.lines().pop().as_deref(), Some(line));

    let timer = Simulated::new();
    let policy = Policy::fixed(millis(25)).jitter(Jitter::None);
    let chain = policy.cancel(CancelFn::new(|| timer.passed() >= millis(35)));
    let outcome = chain
        .timer(&timer)
        .call_blocking(|| Err::<(), _>(TRANSIENT));
    assert_eq!(outcome, Err(TRANSIENT));
    assert_eq!(timer.slept(), [10, 10, 5, 10].map(millis));
}

#[test]
fn late_steps_do_not_make_a_pause_that_may_be_cancelled_longer() {
    // Each step of 10 ms takes 16.
    let timer = Simulated::oversleeping(millis(6));
    let never = CancelFn::new(|| false);
    assert!(!timer.sleep_or_cancelled(secs(8), &never));
    assert_eq!(timer.passed(), secs(8));
}

#[test]
fn a_blocking_timer_waits_for_limiters() {
    scripted! {
        #[retry(deadline = "1s", limiter = limiter, timer = timer)]
        fn call(limiter: &ConcurrencyLimiter, timer: &Simulated) -> Result<u32, Rejected> = Ok(42);
    }

    let limiter = at_a_time(1);
    let first = HeldPermit::new(&limiter);
    let late = Err(Rejected::new(RejectedBy::Deadline));
    let timer = Simulated::new();
    assert_eq!(call(&limiter, &timer), late);
    assert_eq!(timer.passed(), secs(1));
    let timer = Simulated::new();
    let chain = EXACT.deadline(secs(1)).limiter(&limiter).timer(&timer);
    assert_eq!(chain.call_blocking(|| Ok(42)), late);
    assert_eq!(timer.passed(), secs(1));
    first.give_back();
    assert_eq!(call(&limiter, &timer), Ok(42));
}

/// For example on a machine that was suspended meanwhile.
#[tokio::test(start_paused = true)]
async fn time_that_passes_in_an_empty_wait_does_not_count_on_other_clocks() {
    struct Sleeping<'a> {
        hours: AtomicU32,
        limiter: &'a ConcurrencyLimiter,
        running: Mutex<Option<Permit>>,
    }

    impl BlockingTimer for Sleeping<'_> {
        fn sleep(&self, _: Duration) {
            unreachable!("nobody says how long it takes")
        }

        fn park(&self, at_most: Option<Duration>) {
            assert_eq!(at_most, None);
            self.hours.fetch_add(8, SeqCst);
            let running = self.running.lock().unwrap().take().unwrap();
            self.limiter.leave(running, AttemptOutcome::Success);
        }

        fn now(&self) -> Moment {
            Moment::from_origin(secs(3600) * self.hours.load(SeqCst))
        }
    }

    scripted! {
        #[retry(limiter = limiter, timer = timer)]
        fn call(limiter: &ConcurrencyLimiter, timer: &Sleeping<'_>) = Ok(());
    }

    let limiter = ConcurrencyLimiter::aimd().most(1);
    let mut running = limiter.enter(1);
    let admission = limiter.poll(&mut running, Waker::noop());
    assert_eq!(admission, Admission::Admitted);
    let timer = Sleeping {
        hours: AtomicU32::new(0),
        limiter: &limiter,
        running: Mutex::new(Some(running)),
    };
    let budget = Budget::standard().per_second(0.01);
    while budget.withdraw(Kind::Transient) {}
    let empty = budget.available();
    call(&limiter, &timer).unwrap();
    assert_eq!(timer.hours.into_inner(), 8);
    assert_eq!(budget.to_string(), format!("{empty} of 500 tokens"));
}
