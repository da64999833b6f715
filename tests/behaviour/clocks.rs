//! Deadlines and elapsed times by the clocks of timers, and timers that oversleep.

// The shapes under test are what these lints would have written otherwise.
#![expect(
    clippy::items_after_statements,
    clippy::needless_pass_by_value,
    clippy::redundant_closure_for_method_calls
)]

use std::future::pending;
use std::task::Waker;
use std::time::Duration;

use futures::executor::block_on;
use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, Changes, Moment, Permit, Timer,
};
use retry_runtime::{GaveUp, Jitter, Policy, Reason, Rejected, Verdict, retry, testing};
use retry_work::{IntoBatches, Plan, plan, retry_each};
use support::clock::Simulated;
use support::runtime;
use support::time::secs;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

#[test]
fn a_deadline_uses_the_timers_own_clock() {
    #[retry(max = 9, jitter = "none", deadline = "7s", timer = clock, on = |_| true)]
    async fn call(clock: &Simulated, attempts: &mut u32) -> Result<(), String> {
        *attempts += 1;
        Err(String::from("busy"))
    }

    let recording = testing::record();
    let mut attempts = 0;
    block_on(call(&Simulated::new(), &mut attempts)).unwrap_err();
    assert_eq!(attempts, 4);
    assert_eq!(recording.delays(), [1, 2, 4].map(secs));
}

#[test]
fn the_time_that_attempts_take_counts_by_that_clock() {
    #[retry(max = 9, jitter = "none", deadline = "7s", timer = clock, on = |_| true)]
    async fn call(clock: &Simulated) -> Result<(), String> {
        clock.advance(secs(2));
        Err(String::from("busy"))
    }

    let recording = testing::record();
    block_on(call(&Simulated::new())).unwrap_err();
    // They fail after 2 s, 5 s and 9 s.
    assert_eq!(recording.delays(), [1, 2].map(secs));
}

#[test]
fn elapsed_times_use_the_timers_own_clock() {
    #[retry(max = 2, jitter = "none", attempt = attempt, timer = clock, on = |_| true, give_up = ended)]
    async fn call(clock: &Simulated, seen: &mut Vec<Duration>) -> Result<(), String> {
        seen.push(attempt.elapsed());
        Err(String::from("busy"))
    }

    fn ended(gave_up: GaveUp<String>) -> String {
        format!("{:?}", gave_up.elapsed())
    }

    let mut seen = Vec::new();
    let error = block_on(call(&Simulated::new(), &mut seen)).unwrap_err();
    assert_eq!(seen, [0, 1, 3].map(secs));
    assert_eq!(error, "3s");
}

/// A pause gets the timer after any kind of failure.
#[test]
fn a_timer_with_a_closure_works_with_keys_that_reject_values() {
    /// Sleeps by a function, on the clock of another timer.
    struct Slept<F>(&'static Simulated, F);

    impl<F: Fn(Duration)> Timer for Slept<F> {
        async fn sleep(&self, duration: Duration) {
            (self.1)(duration);
        }

        fn now(&self) -> Moment {
            self.0.now()
        }
    }

    #[retry(max = 9, jitter = "none", deadline = "8s", on = |_| true, until = |number| *number > 4,
        timer = Slept(clock, |duration| clock.advance(duration)))]
    async fn polled(clock: &'static Simulated, attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        if *attempts < 2 {
            Err(String::from("busy"))
        } else {
            Ok(*attempts)
        }
    }

    #[retry(max = 9, jitter = "none", on = |_| true, validate = |_| Err(String::from("bad")), give_up = ended,
        timer = Slept(clock, |duration| clock.advance(duration)))]
    async fn checked(clock: &'static Simulated, attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        if *attempts < 2 {
            Err(String::from("busy"))
        } else {
            Ok(*attempts)
        }
    }

    fn ended(gave_up: GaveUp<String, u32>) -> String {
        format!("{} {:?}", gave_up.error(), gave_up.elapsed())
    }

    let clock: &'static Simulated = Box::leak(Box::new(Simulated::new()));
    // After pauses of 1, 2 and 4 s, another would end after the deadline.
    let mut attempts = 0;
    assert_eq!(block_on(polled(clock, &mut attempts)), Ok(4));
    attempts = 0;
    let recording = testing::record();
    let error = block_on(checked(clock, &mut attempts)).unwrap_err();
    let slept: Duration = recording.delays().iter().sum();
    // Rejected values have a `max` of their own.
    assert_eq!((attempts, error), (11, format!("bad {slept:?}")));
}

#[test]
fn a_policys_deadline_uses_the_timers_own_clock() {
    #[retry(policy = EXACT.max(9).deadline(secs(7)), timer = clock, on = |_| true)]
    async fn call(clock: &Simulated) -> Result<(), String> {
        Err(String::from("busy"))
    }

    let recording = testing::record();
    block_on(call(&Simulated::new())).unwrap_err();
    assert_eq!(recording.delays(), [1, 2, 4].map(secs));

    let policy = EXACT.max(9).deadline(secs(7)).on(|_: &String| true);
    let recording = testing::record();
    let failing = async || Err::<(), _>(String::from("busy"));
    block_on(policy.timer(Simulated::new()).call(failing)).unwrap_err();
    assert_eq!(recording.delays(), [1, 2, 4].map(secs));
}

/// Attempts of a call whose first pause ends an hour late, under a deadline of 10 s.
macro_rules! oversleeping {
    ($($key:tt)*) => {{
        #[retry(max = 9, jitter = "none", deadline = "10s", timer = clock, name = "call", on = |_| true, $($key)*)]
        async fn call(clock: &Simulated, attempts: &mut u32) -> Result<(), String> {
            *attempts += 1;
            Err(format!("busy {attempts}"))
        }

        let recording = testing::record();
        let mut attempts = 0;
        let error = block_on(call(&Simulated::oversleeping(secs(3600)), &mut attempts)).unwrap_err();
        (attempts, error, recording.lines().pop().unwrap())
    }};
}

#[test]
fn no_attempt_starts_after_an_overslept_pause_if_the_error_is_kept() {
    let line = "gave up call attempt=1 max=9 error=busy 1 reason=deadline";
    for (attempts, error, last) in [
        oversleeping!(repeats = 9),
        oversleeping!(attempt = _attempt),
        oversleeping!(
            give_up = |gave_up: GaveUp<String>| {
                assert_eq!(gave_up.reason(), Reason::Deadline);
                assert_eq!((gave_up.attempts(), gave_up.errors().count()), (1, 1));
                gave_up.into_error()
            }
        ),
    ] {
        assert_eq!((attempts, &*error, &*last), (1, "busy 1", line));
    }
    let (attempts, error, last) = oversleeping!(
        fallback = async |gave_up: GaveUp<String>| {
            assert_eq!(gave_up.reason(), Reason::Deadline);
            Err(gave_up.into_error())
        }
    );
    assert_eq!((attempts, &*error), (1, "busy 1"));
    assert_eq!(
        last,
        "falling back call attempt=1 max=9 error=busy 1 reason=deadline"
    );
}

#[test]
fn one_more_attempt_is_made_after_an_overslept_pause_if_the_error_is_gone() {
    let (attempts, error, last) = oversleeping!(idempotent = true);
    assert_eq!((attempts, &*error), (2, "busy 2"));
    assert_eq!(
        last,
        "gave up call attempt=2 max=9 error=busy 2 reason=deadline"
    );
}

/// A blocking function sleeps by the system's clock, so a deadline must, too.
#[tokio::test(start_paused = true)]
async fn a_blocking_function_under_a_paused_clock_keeps_its_deadline() {
    #[retry(max = "unlimited", backoff = "fixed", base = "30s", jitter = "none", deadline = "100s", on = |_| true)]
    fn call(attempts: &mut u32) -> Result<(), String> {
        *attempts += 1;
        Err(String::from("busy"))
    }

    let skipped = testing::skip_sleeps();
    let mut attempts = 0;
    call(&mut attempts).unwrap_err();
    assert_eq!((attempts, skipped.total()), (4, secs(90)));

    let mut attempts = 0;
    let policy = EXACT
        .max(u32::MAX)
        .cap(secs(30))
        .base(secs(30))
        .deadline(secs(100));
    let outcome = policy.on(|_: &String| true).call_blocking(|| {
        attempts += 1;
        Err::<(), _>(String::from("busy"))
    });
    assert!(outcome.is_err());
    assert_eq!(attempts, 4);
}

/// A timer that wraps tokio's and names no clock.
#[tokio::test(start_paused = true)]
async fn a_timer_that_wraps_tokios_sees_its_clock_paused() {
    struct Wrapping;

    impl Timer for Wrapping {
        async fn sleep(&self, duration: Duration) {
            tokio::time::sleep(duration).await;
        }
    }

    #[retry(max = 9, jitter = "none", deadline = "7s", timer = Wrapping, on = |_| true)]
    async fn call(attempts: &mut u32) -> Result<(), String> {
        *attempts += 1;
        Err(String::from("busy"))
    }

    let mut attempts = 0;
    call(&mut attempts).await.unwrap_err();
    assert_eq!(attempts, 4);
}

/// The second runtime's clock is behind the first's, which was advanced.
#[test]
fn a_second_paused_runtime_may_be_behind_the_first() {
    #[retry(max = 9, jitter = "none", deadline = "7s", on = |_| true)]
    async fn call(attempts: &mut u32) -> Result<(), String> {
        *attempts += 1;
        Err(String::from("busy"))
    }

    let (early, late) = (runtime::paused(), runtime::paused());
    for runtime in [late, early] {
        runtime.block_on(async {
            let mut attempts = 0;
            call(&mut attempts).await.unwrap_err();
            assert_eq!(attempts, 4);
            tokio::time::advance(Duration::from_hours(1)).await;
        });
    }
}

#[test]
fn a_verdict_without_a_hint_needs_no_clock() {
    /// A timer that panics when the time is read, like the standard library in a browser.
    struct NoClock;

    impl Timer for NoClock {
        async fn sleep(&self, _: Duration) {}

        fn now(&self) -> Moment {
            unreachable!("nobody needs the time")
        }
    }

    #[retry(max = 1, timer = NoClock, on = |_| Verdict::TRANSIENT)]
    async fn call() -> Result<(), String> {
        Err(String::from("busy"))
    }

    #[retry(policy = EXACT.max(1), timer = NoClock, on = |_| Verdict::TRANSIENT)]
    async fn call_by_policy() -> Result<(), String> {
        Err(String::from("busy"))
    }

    block_on(call()).unwrap_err();
    block_on(call_by_policy()).unwrap_err();
    let by_chain = EXACT.max(1).on(|_: &String| true);
    block_on(
        by_chain
            .timer(NoClock)
            .call(async || Err::<(), _>(String::from("busy"))),
    )
    .unwrap_err();
}

/// The clock is read only if a key needs the time.
#[test]
fn every_key_with_a_history_has_the_times_of_attempts() {
    macro_rules! elapsed {
        ($($key:tt)*) => {{
            #[retry(max = 1, jitter = "none", timer = clock, on = |_| true, $($key)*)]
            async fn call(clock: &Simulated) -> Result<(), String> {
                Err(String::from("busy"))
            }

            block_on(call(&Simulated::new())).unwrap_err()
        }};
    }

    fn shown(gave_up: GaveUp<String>) -> String {
        gave_up.to_string()
    }

    let text = "gave up after 2 attempts in 1s (exhausted): busy";
    assert_eq!(elapsed!(give_up = shown), text);
    assert_eq!(elapsed!(give_up = |gave_up| gave_up.to_string()), text);
    assert_eq!(elapsed!(give_up = |gave_up| format!("{gave_up}")), text);
    assert_eq!(
        elapsed!(give_up = |gave_up: GaveUp<String>| shown(gave_up)),
        text
    );
    assert_eq!(
        elapsed!(give_up = |ended| format!("{:?}", ended.elapsed())),
        "1s"
    );
    assert_eq!(
        elapsed!(fallback = async |ended: GaveUp<String>| Err(shown(ended))),
        text
    );
    assert_eq!(elapsed!(give_up = |ended| ended.into_error()), "busy");

    #[retry(max = 1, jitter = "none", timer = clock, on = |_| true, attempt = this)]
    async fn captured(clock: &Simulated) -> Result<(), String> {
        Err(format!("{this:?}"))
    }

    #[retry(max = 1, jitter = "none", timer = clock, on = |_| true, attempt = this)]
    async fn handed_on(clock: &Simulated) -> Result<(), String> {
        fn elapsed(attempt: &retry_runtime::Attempt<String>) -> String {
            format!("{:?}", attempt.elapsed())
        }
        Err(elapsed(this))
    }

    assert!(
        block_on(captured(&Simulated::new()))
            .unwrap_err()
            .contains("number: 2")
    );
    assert_eq!(
        block_on(handed_on(&Simulated::new())),
        Err(String::from("1s"))
    );
}

#[test]
fn the_clock_is_read_only_for_keys_that_need_it() {
    struct NoClock;

    impl Timer for NoClock {
        async fn sleep(&self, _: Duration) {}

        fn now(&self) -> Moment {
            unreachable!("nobody needs the time")
        }
    }

    #[retry(max = 1, timer = NoClock, on = |_| true, attempt = attempt, repeats = 2, give_up = |ended| ended.into_error())]
    async fn call() -> Result<(), String> {
        Err(format!("busy {}", attempt.number()))
    }

    assert_eq!(block_on(call()), Err(String::from("busy 2")));
}

/// With a timer whose clock stands still and whose pauses take no time, a deadline has the same effect in every form.
#[test]
fn a_policys_deadline_depends_only_on_the_clock() {
    struct Still;

    impl Timer for Still {
        async fn sleep(&self, _: Duration) {}

        fn now(&self) -> Moment {
            Moment::from_origin(secs(1))
        }
    }

    const POLICY: Policy = Policy::fixed(secs(1))
        .jitter(Jitter::None)
        .max(20)
        .deadline(secs(5));

    #[retry(policy = POLICY, timer = Still, on = |_| true)]
    async fn call(attempts: &mut u32) -> Result<(), String> {
        *attempts += 1;
        Err(String::from("busy"))
    }

    let mut attempts = 0;
    block_on(call(&mut attempts)).unwrap_err();
    assert_eq!(attempts, 21);
    let policy = POLICY.on(|_: &String| true);
    let mut attempts = 0;
    let failing = || {
        attempts += 1;
        async { Err::<(), _>(String::from("busy")) }
    };
    block_on(policy.timer(Still).call(failing)).unwrap_err();
    assert_eq!(attempts, 21);
    let batches = policy.timer(Still).batches(1);
    let results = block_on(retry_each(batches, [()], async |_| {
        Err::<Vec<Result<(), _>>, _>(String::from("busy"))
    }));
    assert_eq!(results[0].as_ref().unwrap_err().attempts(), 21);
}

#[test]
fn a_methods_own_deadline_overrides_a_decorators_policy() {
    // An expression that is evaluated again must give the same clock.
    static CLOCK: Simulated = Simulated::new();

    #[retry(wrapper = Retrying, timer = &CLOCK, on = |_| true)]
    trait Model {
        #[retry(deadline = "100s")]
        async fn ask(&self, attempts: &mut u32) -> Result<(), String>;
    }

    struct Busy;

    impl Model for Busy {
        async fn ask(&self, attempts: &mut u32) -> Result<(), String> {
            *attempts += 1;
            CLOCK.advance(secs(8));
            Err(String::from("busy"))
        }
    }

    let policy = Policy::fixed(secs(2))
        .jitter(Jitter::None)
        .max(20)
        .deadline(secs(5));
    let mut attempts = 0;
    block_on(Retrying::with_policy(Busy, policy).ask(&mut attempts)).unwrap_err();
    assert_eq!(attempts, 11);
}

#[test]
fn a_batch_round_that_never_started_is_reported_as_the_previous_one() {
    let recording = testing::record();
    let policy = EXACT.deadline(secs(10)).on(|_: &String| true);
    let batches = policy.timer(Simulated::oversleeping(secs(3600))).batches(9);
    let results = retry_each(batches, [1, 2], async |pending: Vec<u32>| {
        Ok::<Vec<Result<(), _>>, String>(
            pending.iter().map(|_| Err(String::from("busy"))).collect(),
        )
    });
    let _ = block_on(results);
    let last = recording.lines().pop().unwrap();
    let told = " attempt=1 max=3 error=2 of 2 items: alloc::string::String reason=deadline";
    assert!(
        last.starts_with("gave up ") && last.ends_with(told),
        "{last}"
    );
}

#[test]
fn a_value_that_is_kept_is_returned_after_an_overslept_pause() {
    #[retry(max = 9, jitter = "none", deadline = "10s", timer = clock, until = |_| false,
        cancel = pending::<()>(), on = |_| true)]
    async fn call(clock: &Simulated, attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        Ok(*attempts)
    }

    let recording = testing::record();
    let clock = Simulated::oversleeping(secs(3600));
    assert_eq!(block_on(call(&clock, &mut 0)), Ok(1));
    assert!(recording.lines()[1].ends_with("reason=deadline"));
}

#[test]
fn no_attempt_begins_after_a_wait_that_overslept_the_deadline() {
    /// Its turn comes two seconds after the clock's origin.
    struct Later<'a>(&'a Simulated);

    impl AdmissionControl for Later<'_> {
        fn enter(&self, cost: u32) -> Permit {
            Permit::new(0, cost)
        }

        fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
            if self.0.now() < Moment::from_origin(secs(2)) {
                return Admission::Wait {
                    ahead: 0,
                    at_least: Some(secs(2)),
                };
            }
            Admission::Admitted
        }

        fn leave(&self, _: Permit, _: AttemptOutcome) -> Changes {
            [None; 2]
        }
    }

    #[retry(deadline = "7s", limiter = limiter, timer = clock)]
    async fn call(
        clock: &Simulated,
        limiter: &Later<'_>,
        attempts: &mut u32,
    ) -> Result<(), Rejected> {
        *attempts += 1;
        Ok(())
    }

    for (oversleeps, expected) in [(secs(5), 1), (secs(6), 0)] {
        let mut attempts = 0;
        let clock = Simulated::oversleeping(oversleeps);
        let limiter = Later(&clock);
        let outcome = block_on(call(&clock, &limiter, &mut attempts));
        assert_eq!(attempts, expected, "{oversleeps:?}");
        let reason = outcome.err().map(Reason::from);
        assert_eq!(reason, (expected == 0).then_some(Reason::Deadline));
    }
}

#[test]
fn a_plan_begins_no_subtask_after_its_deadline_although_none_waits() {
    let clock = &Simulated::new();
    let mut plan = Plan::local();
    plan.add("first", [], async |[]| {
        clock.advance(secs(5));
        Ok(1)
    });
    plan.add("second", ["first"], async |[_]| {
        clock.advance(secs(5));
        Ok(2)
    });
    plan.add("third", ["second"], async |[_]| Ok(3));
    let policy = EXACT.deadline(secs(7)).timer(clock).on(|_: &String| true);
    let incomplete = async |_: plan::Snapshot<u32>| plan::Validity::Invalid("incomplete".into());
    let end = block_on(plan.run_until(policy, incomplete)).unwrap();
    assert!(matches!(
        end,
        plan::PlanEnd::GaveUp {
            reason: Reason::Deadline,
            ..
        }
    ));
    let summary = plan.summary();
    assert_eq!(summary.completed, ["first", "second"]);
    assert_eq!(summary.pending, ["third"]);
}

/// The validator is not called for the partial results.
#[test]
fn a_plan_that_holds_a_subtask_back_after_its_deadline_has_ended() {
    let clock = &Simulated::new();
    let mut plan = Plan::local();
    plan.add("first", [], async |[]| {
        clock.advance(secs(2));
        Ok(1)
    });
    plan.add("second", ["first"], async |[_]| Ok(2));
    let recording = testing::record();
    let policy = EXACT.deadline(secs(1)).timer(clock).on(|_: &String| true);
    let end = plan.run_until(
        policy,
        async |_: plan::Snapshot<u32>| -> plan::Validity<_, _, _> {
            unreachable!("no validator begins after the deadline")
        },
    );
    let message = "1 under way at the deadline: second";
    assert_eq!(
        block_on(end).unwrap(),
        plan::PlanEnd::GaveUp {
            reason: Reason::Deadline,
            message: message.into(),
        }
    );
    assert_eq!(plan.summary().pending, ["second"]);
    let gave_up = format!("gave up plan attempt=1 max=3 error={message} reason=deadline");
    assert!(
        recording.lines().contains(&gave_up),
        "{:?}",
        recording.lines()
    );
}
