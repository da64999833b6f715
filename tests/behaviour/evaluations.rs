//! The number of evaluations of each key's expression: one per failure, and none if the call succeeds at once.

#![expect(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "keys take functions of these types"
)]

use std::future::Pending;
use std::mem;
use std::sync::MutexGuard;

use futures::{Stream, StreamExt, stream};
use retry_runtime::Cancel;
use retry_runtime::seam::BlockingTimer;
use support::prelude::*;
use support::runtime;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// The value, and one more evaluation.
fn counted<T>(value: T) -> T {
    COUNT.set(COUNT.get() + 1);
    value
}

/// Fails that many times, and then succeeds.
fn fail(failures: &mut u32) -> Result<u32, String> {
    match failures.checked_sub(1) {
        Some(left) => {
            *failures = left;
            Err(String::from("busy"))
        }
        None => Ok(7),
    }
}

/// Returns what is left to count, and counts.
fn count_down(left: &mut u32) -> Result<u32, String> {
    let counted = *left;
    *left = counted.saturating_sub(1);
    Ok(counted)
}

/// The evaluations of the counted expression in calls that fail 0, 1 and 2 times before they succeed.
macro_rules! evaluations {
    ($($key:tt)*) => { evaluations_of!(fail, on = |_| Verdict::TRANSIENT, $($key)*) };
}

/// The same for any attempt and keys.
macro_rules! evaluations_of {
    ($attempt:ident, $($key:tt)*) => {{
        #[retry($($key)*)]
        fn blocking(failures: &mut u32) -> Result<u32, String> {
            $attempt(failures)
        }

        let of_blocking = counts(|failures| drop(blocking(failures)));
        let of_async = evaluations_async!($attempt, String, $($key)*);
        assert_eq!(of_blocking, of_async, stringify!($($key)*));
        let of_expression = counts(|failures| drop(retrying!($($key)*, { $attempt(failures) })));
        assert_eq!(of_expression, of_async, stringify!($($key)*));
        of_async
    }};
}

/// Like `evaluations_of`, only for an async function.
macro_rules! evaluations_async {
    ($attempt:ident, $error:ty, $($key:tt)*) => {{
        #[retry($($key)*)]
        async fn waiting(failures: &mut u32) -> Result<u32, $error> {
            $attempt(failures).map_err(Into::into)
        }

        counts(|failures| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            drop(runtime.block_on(waiting(failures)));
        })
    }};
}

fn counts(call: impl Fn(&mut u32)) -> [u32; 3] {
    [0, 1, 2].map(|mut failures| {
        let _skipped = testing::skip_sleeps();
        COUNT.set(0);
        call(&mut failures);
        assert_eq!(failures, 0, "it has made all attempts");
        COUNT.get()
    })
}

/// Never cancels anything, async or not.
struct Never;

impl Cancel for Never {
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl IntoFuture for Never {
    type Output = ();
    type IntoFuture = Pending<()>;

    fn into_future(self) -> Pending<()> {
        pending()
    }
}

/// Does not sleep, async or not.
struct AtOnce;

impl Timer for AtOnce {
    fn sleep(&self, _: Duration) -> impl Future<Output = ()> {
        ready(())
    }
}

impl BlockingTimer for AtOnce {
    fn sleep(&self, _: Duration) {}
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn check_zero(value: &u32) -> Result<(), String> {
    if is_zero(value) {
        Ok(())
    } else {
        Err(String::from("not zero"))
    }
}

fn one_less(value: u32, _: &String) -> Result<u32, String> {
    Ok(value - 1)
}

fn stand_in(_: GaveUp<String>) -> Result<u32, String> {
    Ok(0)
}

/// None for a success, one for each failure.
const PER_CALL: [u32; 3] = [1, 1, 1];
const PER_FAILURE: [u32; 3] = [0, 1, 2];
/// One more at the start, because `attempt` may show it from then on.
const AND_AT_THE_START: [u32; 3] = [1, 2, 3];

#[test]
fn numbers_and_policies_are_evaluated_once_for_each_failure_and_to_be_shown() {
    const POLICY: Policy = Policy::new();
    assert_rows! {
        evaluations!(max = counted(5)) => PER_FAILURE;
        evaluations!(backoff = counted(Backoff::Fixed)) => PER_FAILURE;
        evaluations!(base = counted(millis(1))) => PER_FAILURE;
        evaluations!(factor = counted(2)) => PER_FAILURE;
        evaluations!(cap = counted(millis(100_000))) => PER_FAILURE;
        evaluations!(jitter = counted(Jitter::Full)) => PER_FAILURE;
        evaluations!(hint = counted(Hint::Honor)) => PER_FAILURE;
        evaluations!(max_hint = counted(millis(1))) => PER_FAILURE;
        evaluations!(total_delay = counted(millis(9_000_000))) => PER_FAILURE;
        evaluations!(enabled = counted(true)) => PER_FAILURE;
        evaluations!(throttled(base = counted(millis(1)))) => PER_FAILURE;
        evaluations!(transient(max = counted(5))) => PER_FAILURE;
        evaluations!(timed_out(max = counted(5))) => PER_FAILURE;
        evaluations!(floor = counted(millis(1))) => PER_FAILURE;
        evaluations!(backoff = |_| counted(millis(1))) => PER_FAILURE;
        evaluations!(validate = |_| Ok(()), invalid(max = counted(5))) => PER_FAILURE;
        // One more at the start, where `max` is shown.
        evaluations!(max = counted(5), observe = |_| ()) => AND_AT_THE_START;
        evaluations!(max = counted(5), attempt = _attempt) => AND_AT_THE_START;
        evaluations!(max = counted(5), give_up = GaveUp::into_error) => PER_FAILURE;
        evaluations!(max = counted(5), repeats = 9) => PER_FAILURE;
        evaluations!(enabled = counted(true), attempt = _attempt) => AND_AT_THE_START;
        // One more at the start, for a deadline.
        evaluations!(policy = counted(POLICY)) => AND_AT_THE_START;
        evaluations!(policy = &counted(POLICY), observe = |_| ()) => AND_AT_THE_START;
        evaluations!(policy = counted(POLICY), attempt = _attempt) => AND_AT_THE_START;
        evaluations!(policy = POLICY, enabled = counted(true)) => AND_AT_THE_START;
    }
}

#[test]
fn keys_for_events_and_values_are_evaluated_once_for_each() {
    let per_value = [1, 2, 3];
    assert_rows! {
        // A retry for each failure, and the success after it.
        evaluations!(name = counted("call")) => [0, 2, 3];
        // Two events for each attempt.
        evaluations!(name = counted("call"), observe = |_| ()) => [2, 4, 6];
        evaluations!(observe = counted(|_: &Event<'_>| ())) => [2, 4, 6];
        evaluations!(max = 1, observe = counted(|_: &Event<'_>| ())) => [2, 4, 4];
        evaluations_of!(count_down, on = |_| true, until = counted(is_zero)) => per_value;
        evaluations_of!(count_down, on = |_| true, validate = counted(check_zero)) => per_value;
    }
}

#[test]
fn a_correction_is_evaluated_once_for_each_that_is_made() {
    scripted! {
        #[retry(validate = check_zero, correct = counted(one_less), on = |_| true)]
        fn blocking(value: &mut u32) -> Result<u32, String> = Ok(mem::take(value));
        #[retry(validate = check_zero, correct = counted(async |value, error: &String| one_less(value, error)),
            on = |_| true)]
        async fn waiting(value: &mut u32) -> Result<u32, String> = Ok(mem::take(value));
    }

    let expected = PER_FAILURE;
    assert_eq!(counts(|value| assert_eq!(blocking(value), Ok(0))), expected);
    let runtime = runtime::paused();
    let of_async = counts(|value| assert_eq!(runtime.block_on(waiting(value)), Ok(0)));
    assert_eq!(of_async, PER_FAILURE);
}

#[test]
fn an_ending_is_evaluated_once_the_call_gives_up() {
    scripted! {
        #[retry(max = 1, on = |_| true, fallback = counted(stand_in))]
        fn blocking(failures: &mut u32) -> Result<u32, String> = fail(failures);
    }

    let of_blocking = counts(|failures| drop(blocking(failures)));
    let once_given_up = [0, 0, 1];
    assert_rows! {
        of_blocking => once_given_up;
        evaluations!(max = 1, give_up = counted(GaveUp::into_error)) => once_given_up;
        evaluations_async!(fail, String, max = 1, on = |_| true,
            fallback = counted(async |gave_up| stand_in(gave_up))) => once_given_up;
    }
}

#[test]
fn other_keys_are_evaluated_once_per_call_or_failure() {
    static BUDGET: Budget = Budget::standard();

    assert_rows! {
        evaluations_of!(fail, on = counted(|_: &String| true)) => PER_FAILURE;
        evaluations!(idempotent = counted(true)) => PER_FAILURE;
        evaluations!(repeats = counted(9)) => PER_FAILURE;
        // Also evaluated before the pause.
        evaluations!(cancel = counted(Never)) => [0, 2, 4];
        evaluations!(budget = counted(&BUDGET)) => PER_CALL;
        evaluations!(deadline = counted(Duration::from_mins(15))) => PER_CALL;
        evaluations!(span = counted(true)) => PER_CALL;
        // Evaluated before each attempt.
        evaluations_async!(fail, Box<dyn Error>, on = |_| true, timeout = counted(millis(9_000)))
            => AND_AT_THE_START;
    }
}

#[test]
fn timers_and_protections_are_evaluated_once_for_each_call() {
    static BREAKER: Breaker = Breaker::new();
    static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

    #[retry(stream = "resume", attempt = _attempt, on = |_| true, timer = counted(AtOnce))]
    fn resumed(failures: &mut u32) -> impl Stream<Item = Result<u32, String>> {
        stream::iter([fail(failures)])
    }

    scripted! {
        #[retry(on = |_| true, breaker = counted(&BREAKER))]
        fn guarded(failures: &mut u32) -> io::Result<u32> = fail(failures).map_err(io::Error::other);
        #[retry(on = |_| true, limiter = counted(LIMITER.cost(2)))]
        fn limited(failures: &mut u32) -> io::Result<u32> = fail(failures).map_err(io::Error::other);
    }

    assert_rows! {
        evaluations!(timer = counted(AtOnce)) => PER_CALL;
        evaluations!(timer = counted(AtOnce), deadline = "1h", give_up = GaveUp::into_error) => PER_CALL;
        evaluations_async!(fail, Box<dyn Error>, on = |_| true, timer = counted(AtOnce), timeout = "1h")
            => PER_CALL;
    }

    let runtime = runtime::paused();
    let of_stream = counts(|failures| drop(runtime.block_on(pin!(resumed(failures)).next())));
    assert_eq!(of_stream, PER_CALL);
    assert_eq!(counts(|failures| drop(guarded(failures))), PER_CALL);
    assert_eq!(counts(|failures| drop(limited(failures))), PER_CALL);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_is_evaluated_before_each_attempt_except_hedged_ones() {
    scripted! {
        #[retry(on = |_| true, hedge = counted(secs(1)))]
        async fn call(steps: &Mutex<Vec<(u64, Result<(), Failure>)>>) = {
            let (takes, outcome) = steps.lock().unwrap().pop().unwrap();
            sleep(millis(takes)).await;
            outcome
        };
    }

    COUNT.set(0);
    // The first two run at once and fail; the third is hedged, too.
    let failures = [1_500, 500, 1_500].map(|takes| (takes, Err(TRANSIENT)));
    let steps = [vec![(100, Ok(()))], failures.to_vec()].concat();
    call(&Mutex::new(steps)).await.unwrap();
    assert_eq!(COUNT.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn cancellation_is_evaluated_before_each_wait() {
    #[retry(on = |_| true, backoff = "none", limiter = limiter, cancel = counted(pending()))]
    async fn cancelled(limiter: &RateLimiter<Quota>, failures: &mut u32) -> io::Result<u32> {
        fail(failures).map_err(io::Error::other)
    }

    // After a failure, before the pause, and before each wait for the limiter.
    for (failures, waits, evaluations) in [(0, false, 0), (0, true, 1), (1, false, 3), (1, true, 4)]
    {
        let limiter = RateLimiter::fixed(1, secs(1));
        if waits {
            HeldPermit::new(&limiter).succeeded();
        }
        COUNT.set(0);
        cancelled(&limiter, &mut { failures }).await.unwrap();
        assert_eq!(COUNT.get(), evaluations, "{failures} {waits}");
    }
}

/// The evaluations in a call that is hedged once, and succeeds.
macro_rules! hedged {
    ($($key:tt)*) => {{
        #[retry(on = |_| Verdict::TRANSIENT, hedge = "1s", $($key)*)]
        async fn call() -> Result<(), String> {
            sleep(millis(1_500)).await;
            Ok(())
        }

        COUNT.set(0);
        call().await.unwrap();
        COUNT.get()
    }};
}

#[tokio::test(start_paused = true)]
async fn keys_that_allow_a_hedge_are_evaluated_before_each() {
    static BUDGET: Budget = Budget::standard();
    const POLICY: Policy = Policy::new();

    assert_rows! {
        hedged!(max = counted(3)) => 1;
        hedged!(enabled = counted(true)) => 1;
        hedged!(policy = counted(POLICY)) => 2;
        hedged!(idempotent = counted(true)) => 1;
        hedged!(cancel = counted(pending())) => 1;
        // Once for each call.
        hedged!(timer = counted(DefaultTimer)) => 1;
        hedged!(budget = counted(&BUDGET)) => 1;
    }
}

#[test]
fn keys_may_take_the_same_lock() {
    struct Config {
        max: u32,
        base: Duration,
    }
    static CONFIG: Mutex<Config> = Mutex::new(Config {
        max: 2,
        base: millis(1),
    });
    fn locked() -> MutexGuard<'static, Config> {
        CONFIG.try_lock().expect("no other key holds it")
    }

    #[retry(on = |_| Verdict::TRANSIENT, max = locked().max, base = locked().base, cap = locked().base, throttled(max = locked().max))]
    fn blocking(failures: &mut u32) -> Result<u32, String> {
        drop(locked());
        fail(failures)
    }

    #[retry(on = |_| true, max = locked().max, base = locked().base, deadline = locked().base * 100_000, attempt = attempt)]
    fn shown(failures: &mut u32) -> Result<u32, String> {
        assert_eq!(attempt.max(), Some(locked().max));
        fail(failures)
    }

    let _skipped = testing::skip_sleeps();
    assert_eq!(blocking(&mut 2), Ok(7));
    assert_eq!(blocking(&mut 3), Err(String::from("busy")));
    assert_eq!(shown(&mut 2), Ok(7));
}

#[test]
fn a_list_may_come_from_a_macro() {
    macro_rules! paused {
        ($first:expr, $second:expr) => {
            #[retry(backoff = [$first, $second], jitter = "none", on = |_| true)]
            fn paused(failures: &mut u32) -> Result<u32, String> {
                fail(failures)
            }
        };
    }
    paused!("1s", "5s");
    let _skipped = testing::skip_sleeps();
    assert_eq!(paused(&mut 3), Ok(7));
}

/// Notes that a key's expression ran, or its function.
fn noted<T>(key: &'static str, value: T) -> T {
    ORDER.with_borrow_mut(|order| order.push(key));
    value
}

thread_local! {
    static ORDER: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_keys_run_in_one_order() {
    static BUDGET: Budget = Budget::standard();

    scripted! {
        #[retry(name = noted("name", "call"), on = |_| noted("on", Verdict::TRANSIENT),
            policy = |_| noted("policy", Policy::new()), enabled = noted("enabled", true),
            idempotent = noted("idempotent", true), repeats = noted("repeats", 9), budget = noted("budget", &BUDGET),
            cancel = noted("cancel", pending()), timer = noted("timer", DefaultTimer),
            before_pause = async |_, _| noted("before_pause", ()),
            before_retry = async |_, _| noted("before_retry", ()))]
        async fn chosen(failures: &mut u32) -> Result<u32, String> = fail(failures);
        #[retry(on = |_| noted("on", Verdict::TRANSIENT), backoff = |_| noted("backoff", millis(5)),
            enabled = noted("enabled", true), max = noted("max", 3_u32),
            before_pause = async |_, _| noted("before_pause", ()))]
        async fn numbers(failures: &mut u32) -> Result<u32, String> = fail(failures);
    }

    ORDER.take();
    assert_eq!(chosen(&mut 1).await, Ok(7));
    let order = ORDER.take();
    let (at_the_start, order) = order.split_at(2);
    let (order, of_the_success) = order.split_at(10);
    assert_eq!(at_the_start, ["timer", "budget"]);
    let expected =
        "cancel on policy enabled name idempotent repeats before_pause cancel before_retry";
    assert_eq!(order.join(" "), expected);
    assert_eq!(of_the_success, ["name"]);
    assert_eq!(numbers(&mut 1).await, Ok(7));
    let expected = "on enabled max backoff before_pause";
    assert_eq!(ORDER.take().join(" "), expected);
}
