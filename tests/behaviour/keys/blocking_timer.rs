//! The key `timer` in blocking code, with a clock that only sleeping advances.

use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::seam::{BlockingTimer, CancelFn, Moment};
use support::clock::Simulated;
use support::limiters::at_a_time;
use support::prelude::*;

#[test]
fn a_blocking_timer_may_be_a_pointer_or_a_closure() {
    scripted! {
        #[retry(max = 2, jitter = "none", timer = Arc::clone(timer))]
        fn by_pointer(timer: &Arc<Simulated>) = Err(TRANSIENT);
        #[retry(max = 2, jitter = "none", timer = |pause| BlockingTimer::sleep(&**timer, pause))]
        fn by_closure(timer: &Arc<Simulated>) = Err(TRANSIENT);
    }

    for call in [by_pointer as fn(&Arc<Simulated>) -> _, by_closure] {
        let timer = Arc::new(Simulated::new());
        assert_eq!(call(&timer), Err(TRANSIENT));
        assert_eq!(timer.slept(), [1, 2].map(secs));
    }
}

/// If a timer oversleeps, no attempt starts after the deadline.
#[test]
fn deadlines_use_the_timers_clock() {
    scripted! {
        #[retry(max = 9, jitter = "none", deadline = "7s", timer = timer)]
        fn call(timer: &Simulated) = Err(TRANSIENT);
    }

    for (timer, slept) in rows! {
        Simulated::new(), vec![1, 2, 4];
        Simulated::oversleeping(secs(3600)), vec![3601];
    } {
        let recording = testing::record();
        assert_eq!(call(&timer), Err(TRANSIENT));
        assert_eq!(recording.reasons(), [Reason::Deadline]);
        assert_eq!(
            timer.slept(),
            slept.into_iter().map(secs).collect::<Vec<_>>()
        );
    }
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
    first.give_back();
    assert_eq!(call(&limiter, &timer), Ok(42));
}

/// For example on a machine that was suspended meanwhile.
#[tokio::test(start_paused = true)]
async fn time_that_passes_in_an_empty_wait_does_not_count_on_other_clocks() {
    struct Sleeping<'a> {
        hours: AtomicU32,
        running: Mutex<Option<HeldPermit<&'a ConcurrencyLimiter>>>,
    }

    impl BlockingTimer for Sleeping<'_> {
        fn sleep(&self, _: Duration) {
            unreachable!("nobody says how long it takes")
        }

        fn park(&self, at_most: Option<Duration>) {
            assert_eq!(at_most, None);
            self.hours.fetch_add(8, SeqCst);
            self.running.lock().unwrap().take().unwrap().give_back();
        }

        fn now(&self) -> Moment {
            Moment::from_origin(secs(3600) * self.hours.load(SeqCst))
        }
    }

    scripted! {
        #[retry(limiter = limiter, timer = timer)]
        fn call(limiter: &ConcurrencyLimiter, timer: &Sleeping<'_>) = Ok(());
    }

    let limiter = at_a_time(1);
    let timer = Sleeping {
        hours: AtomicU32::new(0),
        running: Mutex::new(HeldPermit::admitted(&limiter)),
    };
    let budget = Budget::standard().per_second(0.01);
    while budget.withdraw(Kind::Transient) {}
    let empty = budget.available();
    call(&limiter, &timer).unwrap();
    assert_eq!(timer.hours.into_inner(), 8);
    assert_eq!(budget.to_string(), format!("{empty} of 500 tokens"));
}
