//! Deadlines and elapsed times on timers' clocks, and timers that oversleep.

// The shapes under test are what these lints would have written otherwise.
#![expect(
    clippy::items_after_statements,
    clippy::needless_pass_by_value,
    clippy::redundant_closure_for_method_calls
)]

use futures::executor::block_on;
use retry_runtime::seam::Moment;
use retry_work::plan;
use support::clock::Simulated;
use support::prelude::*;
use support::runtime;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// A pause gets the timer after any kind of failure.
#[test]
fn a_deadline_uses_the_timers_own_clock_with_keys_that_reject_values_too() {
    /// Sleeps by a function, on the clock of another timer.
    struct Slept<F>(&'static Simulated, F);

    impl<F: Fn(Duration)> Timer for Slept<F> {
        async fn sleep(&self, duration: Duration) {
            (self.1)(duration);
        }

        fn now(&self) -> Moment {
            Timer::now(self.0)
        }
    }

    scripted! {
        #[retry(max = 9, jitter = "none", deadline = "8s", until = |number| *number > 4,
            timer = Slept(clock, |duration| clock.advance(duration)))]
        async fn polled(clock: &'static Simulated);
        #[retry(max = 9, jitter = "none", validate = |_| Err(STOP), give_up = |gave_up| {
                assert_eq!(gave_up.elapsed(), clock.passed());
                gave_up.into_error()
            },
            timer = Slept(clock, |duration| clock.advance(duration)))]
        async fn checked(clock: &'static Simulated);
        // They fail after 2 s, 5 s and 9 s.
        #[retry(policy = EXACT.max(9).deadline(secs(7)), timer = clock)]
        async fn by_policy(clock: &Simulated, script: &mut Script) -> Result<usize, Failure> = {
            clock.advance(secs(2));
            script.next()
        };
    }

    let clock = || -> &'static Simulated { Box::leak(Box::new(Simulated::new())) };
    assert_rows! {
        // After pauses of 1, 2 and 4 s, another would end after the deadline.
        run!([TRANSIENT], |script| block_on(polled(clock(), script))) => (Ok(4), 4);
        // Rejected values have a `max` of their own.
        run!([TRANSIENT], |script| block_on(checked(clock(), script))) => (Err(STOP), 11);
    }
    let clock = Simulated::new();
    let ran = run!([TRANSIENT; 9], |script| block_on(by_policy(&clock, script)));
    assert_eq!(ran, (Err(TRANSIENT), 3));
    assert_eq!(clock.slept(), [1, 2].map(secs));
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
    fn shown(gave_up: GaveUp<String>) -> String {
        assert_eq!(gave_up.reason(), Reason::Deadline);
        assert_eq!((gave_up.attempts(), gave_up.errors().count()), (1, 1));
        gave_up.into_error()
    }

    let line = "gave up call attempt=1 max=9 error=busy 1 reason=deadline";
    let falling = line.replace("gave up", "falling back");
    for ((attempts, error, last), line) in rows! {
        oversleeping!(repeats = 9), line;
        oversleeping!(attempt = _attempt), line;
        oversleeping!(give_up = |gave_up: GaveUp<String>| shown(gave_up)), line;
        oversleeping!(fallback = async |gave_up: GaveUp<String>| Err(shown(gave_up))), &falling;
    } {
        assert_eq!((attempts, &*error, &*last), (1, "busy 1", line));
    }
    // One more attempt is made if the error is gone.
    let (attempts, error, last) = oversleeping!(idempotent = true);
    let line = "gave up call attempt=2 max=9 error=busy 2 reason=deadline";
    assert_eq!((attempts, &*error, &*last), (2, "busy 2", line));
}

/// A blocking function sleeps by the system's clock, so a deadline must, too.
#[tokio::test(start_paused = true)]
async fn a_blocking_function_under_a_paused_clock_keeps_its_deadline() {
    scripted! {
        #[retry(max = "unlimited", backoff = "fixed", base = "30s", jitter = "none", deadline = "100s")] fn call();
    }

    let skipped = testing::skip_sleeps();
    let ran = run!([TRANSIENT; 9], |script| call(script));
    assert_eq!(ran, (Err(TRANSIENT), 4));
    assert_eq!(skipped.total(), secs(90));
}

/// The second runtime's clock is behind the first's, which was advanced. A timer that wraps tokio's and names no clock
/// uses the same one.
#[test]
fn a_second_paused_runtime_may_be_behind_the_first() {
    struct Wrapping;

    impl Timer for Wrapping {
        async fn sleep(&self, duration: Duration) {
            sleep(duration).await;
        }
    }

    scripted! {
        #[retry(max = 9, jitter = "none", deadline = "7s")] async fn call();
        #[retry(max = 9, jitter = "none", deadline = "7s", timer = Wrapping)] async fn wrapped();
    }

    let (early, late) = (runtime::paused(), runtime::paused());
    for runtime in [late, early] {
        runtime.block_on(async {
            assert_rows! {
                run!([TRANSIENT; 9], |script| call(script).await) => (Err(TRANSIENT), 4);
                run!([TRANSIENT; 9], |script| wrapped(script).await) => (Err(TRANSIENT), 4);
            }
            advance(Duration::from_hours(1)).await;
        });
    }
}

/// A timer that panics when the time is read, like the standard library in a browser.
struct NoClock;

impl Timer for NoClock {
    async fn sleep(&self, _: Duration) {}

    fn now(&self) -> Moment {
        unreachable!("nobody needs the time")
    }
}

#[test]
fn the_clock_is_read_only_for_keys_that_need_it() {
    scripted! {
        #[retry(max = 1, timer = NoClock, on = |_| Verdict::TRANSIENT)] async fn call() = Err(TRANSIENT);
        #[retry(policy = EXACT.max(1), timer = NoClock, on = |_| Verdict::TRANSIENT)]
        async fn by_policy() = Err(TRANSIENT);
        #[retry(max = 1, timer = NoClock, attempt = attempt, repeats = 2, give_up = |ended| ended.into_error())]
        async fn with_history() = {
            assert!(attempt.number() < 3);
            Err(TRANSIENT)
        };
    }

    let chain = EXACT.max(1).on(|_: &Failure| true).timer(NoClock);
    assert_rows! {
        block_on(call()) => Err(TRANSIENT);
        block_on(by_policy()) => Err(TRANSIENT);
        block_on(with_history()) => Err(TRANSIENT);
        block_on(chain.call(async || Err::<(), _>(TRANSIENT))) => Err(TRANSIENT);
    }
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
    assert_rows! {
        elapsed!(give_up = shown) => text;
        elapsed!(give_up = |gave_up| gave_up.to_string()) => text;
        elapsed!(give_up = |gave_up| format!("{gave_up}")) => text;
        elapsed!(give_up = |gave_up: GaveUp<String>| shown(gave_up)) => text;
        elapsed!(give_up = |ended| format!("{:?}", ended.elapsed())) => "1s";
        elapsed!(fallback = async |ended: GaveUp<String>| Err(shown(ended))) => text;
        elapsed!(give_up = |ended| ended.into_error()) => "busy";
    }

    fn of_attempt(attempt: &retry_runtime::Attempt<String>) -> String {
        format!("{:?}", attempt.elapsed())
    }

    #[retry(max = 1, jitter = "none", timer = clock, on = |_| true, attempt = this)]
    async fn handed_on(clock: &Simulated) -> Result<(), String> {
        Err(of_attempt(this))
    }

    let expected = Err(String::from("1s"));
    assert_eq!(block_on(handed_on(&Simulated::new())), expected);
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

    scripted! { #[retry(policy = POLICY, timer = Still)] async fn call(); }

    let ran = run!([TRANSIENT; 99], |script| block_on(call(script)));
    assert_eq!(ran, (Err(TRANSIENT), 21));
    let chain = || POLICY.timer(Still);
    let ran = run!([TRANSIENT; 99], |script| {
        block_on(chain().call(|| ready(script.next())))
    });
    assert_eq!(ran, (Err(TRANSIENT), 21));
    let fails = async |_| Err::<Vec<Result<(), _>>, _>(TRANSIENT);
    let results = block_on(retry_each(chain().batches(1), [()], fails));
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
fn a_value_that_is_kept_is_returned_after_an_overslept_pause() {
    scripted! {
        #[retry(max = 9, jitter = "none", deadline = "10s", timer = clock, until = |_| false, cancel = pending::<()>())]
        async fn call(clock: &Simulated);
    }

    let recording = testing::record();
    let clock = Simulated::oversleeping(secs(3600));
    assert_eq!(block_on(call(&clock, &mut Script::new([]))), Ok(1));
    assert_eq!(recording.reasons(), [Reason::Deadline]);
}

#[test]
fn no_attempt_begins_after_a_wait_that_overslept_the_deadline() {
    /// Its turn comes two seconds after the clock's origin.
    struct Later<'a>(&'a Simulated);

    impl AdmissionControl for Later<'_> {
        fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
            if Timer::now(self.0) < Moment::from_origin(secs(2)) {
                let at_least = Some(secs(2));
                return Admission::Wait { ahead: 0, at_least };
            }
            Admission::Admitted
        }
    }

    scripted! {
        #[retry(deadline = "7s", limiter = Later(clock), timer = clock)]
        async fn call(clock: &Simulated, script: &mut Script) -> Result<usize, Rejected> = Ok(script.next().unwrap());
    }

    for (oversleeps, outcome) in [(5, Ok(1)), (6, Err(Reason::Deadline))] {
        let clock = Simulated::oversleeping(secs(oversleeps));
        let (ended, attempts) = run!([], |script| block_on(call(&clock, script)));
        assert_eq!(attempts, usize::from(outcome.is_ok()));
        assert_eq!(ended.map_err(Reason::from), outcome);
    }
}

/// The validator is not called for the partial results.
#[test]
fn a_plan_begins_no_subtask_after_its_deadline_although_none_waits() {
    for (deadline, completed, held_back) in [(1, 1, "second"), (7, 2, "third")] {
        let clock = &Simulated::new();
        let mut plan = Plan::local();
        for (name, after) in [("first", None), ("second", Some("first"))] {
            plan.add(name, Vec::from_iter(after), async |_: Vec<_>| {
                clock.advance(secs(5));
                Ok(1)
            });
        }
        plan.add("third", ["second"], async |[_]| Ok(3));
        let recording = testing::record();
        let policy = EXACT.deadline(secs(deadline)).timer(clock);
        let never = async |_: plan::Snapshot<u32>| -> Validity<_, _, _> {
            unreachable!("no validator begins after the deadline")
        };
        let end = plan.run_until(policy.on(|_: &String| true), never);
        let end = block_on(end).unwrap();
        let message = format!("1 under way at the deadline: {held_back}");
        assert_eq!(end.to_string(), format!("gave up (deadline): {message}"));
        let (all, summary) = (["first", "second", "third"], plan.summary());
        assert_eq!(summary.completed, all[..completed]);
        assert_eq!(summary.pending, all[completed..]);
        let gave_up = format!("gave up plan attempt=1 max=3 error={message} reason=deadline");
        let lines = recording.lines();
        assert!(lines.contains(&gave_up), "{lines:?}");
    }
}
