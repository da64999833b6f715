//! The key `timer` in blocking code, which a test has go by a clock that only sleeping moves.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use retry_protections::ConcurrencyLimiter;
use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, BlockingTimer, CancelFn, Moment, Permit,
    RetryBudget, TimerFn,
};
use retry_runtime::{
    Budget, Cancel, GaveUp, Jitter, Kind, Policy, Reason, Rejected, RejectedBy, Verdict, retry,
    retrying, testing,
};
use retry_work::{IntoBatches, retry_each_blocking};
use support::held_permit::HeldPermit;
use support::limiters::at_a_time;
use support::time::secs;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// Sleeps without waiting, and as much longer as it oversleeps.
#[derive(Default)]
struct Simulated {
    slept: Mutex<Vec<Duration>>,
    oversleeps: Duration,
}

impl Simulated {
    fn slept(&self) -> Vec<Duration> {
        self.slept.lock().unwrap().clone()
    }

    fn since_start(&self) -> Duration {
        self.slept.lock().unwrap().iter().sum()
    }
}

impl BlockingTimer for Simulated {
    fn sleep(&self, duration: Duration) {
        let mut slept = self.slept.lock().unwrap();
        slept.push(duration + self.oversleeps);
    }

    fn now(&self) -> Moment {
        Moment::from_origin(secs(5) + self.since_start())
    }
}

#[derive(Debug, PartialEq)]
struct Failure(RejectedBy);

impl From<Rejected> for Failure {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.by())
    }
}

struct Client {
    timer: Arc<Simulated>,
}

impl Client {
    #[retry(max = 2, jitter = "none", timer = &*self.timer, on = |_| true)]
    fn by_reference(&self) -> Result<(), String> {
        Err(String::from("busy"))
    }

    #[retry(max = 2, jitter = "none", timer = Arc::clone(&self.timer), on = |_| true)]
    fn by_pointer(&self) -> Result<(), String> {
        Err(String::from("busy"))
    }

    #[retry(max = 2, jitter = "none", timer = |pause| self.timer.sleep(pause), on = |_| true)]
    fn by_closure(&self) -> Result<(), String> {
        Err(String::from("busy"))
    }

    fn by_expression(&self) -> Result<(), String> {
        retrying!(
            max = 2,
            jitter = "none",
            timer = &self.timer,
            on = |_: &String| true,
            { Err(String::from("busy")) }
        )
    }

    fn by_chain(&self) -> Result<(), String> {
        let chain = EXACT.max(2).on(|_: &String| true).timer(&*self.timer);
        chain.call_blocking(|| Err(String::from("busy")))
    }

    fn by_batch(&self) -> Result<(), String> {
        let policy = EXACT.max(2).on(|_: &String| true);
        let batches = policy.timer(&*self.timer).batches(1).concurrency(2);
        let results = retry_each_blocking(batches, [1, 2], |_| Err::<Vec<_>, _>("busy".into()));
        let _: &Vec<Result<(), _>> = &results;
        assert!(results.iter().all(Result::is_err));
        Err(String::from("busy"))
    }
}

#[test]
fn a_blocking_timer_sleeps_in_every_form() {
    for call in [
        Client::by_reference,
        Client::by_pointer,
        Client::by_closure,
        Client::by_expression,
        Client::by_chain,
        Client::by_batch,
    ] {
        let timer = Arc::<Simulated>::default();
        let client = Client {
            timer: Arc::clone(&timer),
        };
        call(&client).unwrap_err();
        assert_eq!(timer.slept(), [1, 2].map(secs));
    }
}

/// Returns the outcome of a call that the deadline ends, and its pauses.
fn ended_by_deadline(timer: &Simulated, call: impl FnOnce(&Simulated)) -> (Vec<Duration>, String) {
    let recording = testing::record();
    call(timer);
    (recording.delays(), recording.lines().pop().unwrap())
}

#[retry(max = 9, jitter = "none", deadline = "7s", timer = timer, name = "call", on = |_| true)]
fn with_deadline(timer: &Simulated) -> Result<(), String> {
    Err(String::from("busy"))
}

#[retry(policy = EXACT.max(9).deadline(secs(7)), timer = timer, name = "call", on = |_| true)]
fn with_policy(timer: &Simulated) -> Result<(), String> {
    Err(String::from("busy"))
}

fn with_chain(timer: &Simulated) -> Result<(), String> {
    let policy = EXACT.max(9).deadline(secs(7));
    let chain = policy.on(|_: &String| true).name("call").timer(timer);
    chain
        .show(|error: &String, f| f.write_str(error))
        .call_blocking(|| Err(String::from("busy")))
}

#[test]
fn deadlines_use_the_timers_clock() {
    for call in [with_deadline, with_policy, with_chain] {
        let timer = Simulated::default();
        let (delays, last) = ended_by_deadline(&timer, |timer| call(timer).unwrap_err().clear());
        assert_eq!(delays, [1, 2, 4].map(secs));
        assert!(
            last.ends_with("attempt=4 max=9 error=busy reason=deadline"),
            "{last}"
        );
        // If a timer oversleeps, no attempt starts after the deadline.
        let late = Simulated {
            oversleeps: secs(3600),
            ..Simulated::default()
        };
        let (_, last) = ended_by_deadline(&late, |timer| call(timer).unwrap_err().clear());
        assert!(
            last.ends_with("attempt=1 max=9 error=busy reason=deadline"),
            "{last}"
        );
    }
    let timer = Simulated::default();
    let policy = EXACT.max(9).deadline(secs(7)).on(|_: &String| true);
    let batches = policy.timer(&timer).batches(2);
    let results = retry_each_blocking(batches, [1, 2], |_| {
        Err::<Vec<Result<(), _>>, _>("busy".into())
    });
    assert!(
        results
            .iter()
            .all(|result| result.as_ref().unwrap_err().reason() == Reason::Deadline)
    );
    assert_eq!(timer.slept(), [1, 2, 4].map(secs));
}

#[test]
fn elapsed_times_use_the_timers_clock() {
    #[retry(max = 2, jitter = "none", attempt = attempt, timer = timer, on = |_| true,
        give_up = |gave_up: GaveUp<String>| { elapsed.push(gave_up.elapsed()); gave_up.into_error() })]
    fn call(timer: &Simulated, elapsed: &mut Vec<Duration>) -> Result<(), String> {
        elapsed.push(attempt.elapsed());
        Err(String::from("busy"))
    }

    let mut elapsed = Vec::new();
    call(&Simulated::default(), &mut elapsed).unwrap_err();
    assert_eq!(elapsed, [0, 1, 3, 3].map(secs));

    let (timer, seen) = (Simulated::default(), Mutex::new(Vec::new()));
    let see = |elapsed| seen.lock().unwrap().push(elapsed);
    let chain = EXACT.max(2).on(|_: &String| true).timer(&timer);
    let chain = chain.fallback(|gave_up: GaveUp<String>| {
        see(gave_up.elapsed());
        Err(gave_up.into_error())
    });
    let outcome = chain.call_attempt_blocking(|attempt| {
        see(attempt.elapsed());
        Err::<(), _>(String::from("busy"))
    });
    outcome.unwrap_err();
    assert_eq!(*seen.lock().unwrap(), [0, 1, 3, 3].map(secs));
}

#[test]
fn cancellation_is_polled_between_short_sleeps() {
    #[retry(max = 9, backoff = "fixed", base = "25ms", jitter = "none", cancel = is_down, timer = timer, on = |_| true)]
    fn call(timer: &Simulated, is_down: impl Fn() -> bool + Copy) -> Result<(), String> {
        Err(String::from("busy"))
    }

    let timer = Simulated::default();
    let recording = testing::record();
    call(&timer, || timer.since_start() >= Duration::from_millis(35)).unwrap_err();
    assert_eq!(timer.slept(), [10, 10, 5, 10].map(Duration::from_millis));
    assert!(
        recording
            .lines()
            .pop()
            .unwrap()
            .ends_with("attempt=2 max=9 error=busy reason=cancelled")
    );

    let timer = Simulated::default();
    let is_down = || timer.since_start() >= Duration::from_millis(35);
    let policy = Policy::fixed(Duration::from_millis(25))
        .jitter(Jitter::None)
        .on(|_: &String| true);
    let chain = policy.cancel(CancelFn::new(is_down)).timer(&timer);
    chain
        .call_blocking(|| Err::<(), _>(String::from("busy")))
        .unwrap_err();
    assert_eq!(timer.slept(), [10, 10, 5, 10].map(Duration::from_millis));
}

#[test]
fn late_steps_do_not_make_a_pause_that_may_be_cancelled_longer() {
    // Each step of 10 ms takes 16.
    let timer = Simulated {
        oversleeps: Duration::from_millis(6),
        ..Simulated::default()
    };
    let never = CancelFn::new(|| false);
    assert!(!timer.sleep_or_cancelled(secs(8), &never));
    assert_eq!(timer.since_start(), secs(8));
}

#[test]
fn a_timer_that_can_be_woken_waits_for_the_cancellation_itself() {
    struct Woken<'a>(&'a AtomicBool);

    impl BlockingTimer for Woken<'_> {
        fn sleep(&self, _: Duration) {
            panic!("asked to sleep through");
        }

        fn sleep_or_cancelled(&self, duration: Duration, cancel: &dyn Cancel) -> bool {
            assert_eq!(duration, secs(1));
            self.0.store(true, SeqCst);
            cancel.is_cancelled()
        }
    }

    #[retry(jitter = "none", cancel = is_down, timer = Woken(is_down), on = |_| true)]
    fn call(is_down: &AtomicBool) -> Result<(), String> {
        Err(String::from("busy"))
    }

    let recording = testing::record();
    call(&AtomicBool::new(false)).unwrap_err();
    assert!(
        recording
            .lines()
            .pop()
            .unwrap()
            .ends_with("attempt=1 max=3 error=busy reason=cancelled")
    );
}

#[test]
fn a_blocking_timer_waits_for_limiters() {
    #[retry(deadline = "1s", limiter = limiter, timer = timer, on = |_| Verdict::TRANSIENT)]
    fn call(limiter: &ConcurrencyLimiter, timer: &Simulated) -> Result<u32, Failure> {
        Ok(42)
    }

    let limiter = at_a_time(1);
    let first = HeldPermit::new(&limiter);
    let timer = Simulated::default();
    assert_eq!(call(&limiter, &timer), Err(Failure(RejectedBy::Deadline)));
    assert_eq!(timer.since_start(), secs(1));
    let timer = Simulated::default();
    let policy = EXACT.deadline(secs(1)).on(|_: &Failure| true);
    let chain = policy.limiter(&limiter).timer(&timer);
    let outcome = chain.call_blocking(|| Ok(42));
    assert_eq!(outcome, Err(Failure(RejectedBy::Deadline)));
    assert_eq!(timer.since_start(), secs(1));
    first.give_back();
    assert_eq!(call(&limiter, &timer), Ok(42));
}

#[test]
fn a_blocking_timer_is_evaluated_once_per_call() {
    static COUNT: AtomicU32 = AtomicU32::new(0);

    #[retry(max = 2, jitter = "none", deadline = "1h", on = |_| true, timer = {
        COUNT.fetch_add(1, SeqCst);
        TimerFn::new(|_: Duration| ())
    })]
    fn call(failures: &mut u32) -> Result<(), String> {
        if *failures == 0 {
            return Ok(());
        }
        *failures -= 1;
        Err(String::from("busy"))
    }

    call(&mut 2).unwrap();
    assert_eq!(COUNT.load(SeqCst), 1);
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
            let running = self.running.lock().unwrap().take();
            self.limiter
                .leave(running.unwrap(), AttemptOutcome::Success);
        }

        fn now(&self) -> Moment {
            Moment::from_origin(secs(3600) * self.hours.load(SeqCst))
        }
    }

    #[retry(limiter = limiter, timer = timer)]
    fn call(limiter: &ConcurrencyLimiter, timer: &Sleeping<'_>) -> Result<(), Rejected> {
        Ok(())
    }

    let limiter = ConcurrencyLimiter::aimd().most(1);
    let mut running = limiter.enter(1);
    assert_eq!(
        limiter.poll(&mut running, Waker::noop()),
        Admission::Admitted
    );
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
