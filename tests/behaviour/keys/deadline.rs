use std::time::Duration;

use retry_protections::{Breaker, Quota, RateLimiter};
use retry_runtime::{GaveUp, Policy, Reason, Verdict, retry};
use support::failure::{Failure, TRANSIENT, throttled_for};
use support::rows;
use tokio::time::{Instant, sleep};

use crate::keys::{Script, millis, secs};

#[retry(max = "unlimited", jitter = "none", deadline = "10s", give_up = expect_deadline)]
async fn call(script: &mut Script, work: Duration) -> Result<usize, Failure> {
    sleep(work).await;
    script.next()
}

fn expect_deadline(gave_up: GaveUp<Failure>) -> Failure {
    assert_eq!(gave_up.reason(), Reason::Deadline);
    gave_up.into_error()
}

#[tokio::test(start_paused = true)]
async fn no_pause_outlasts_the_deadline() {
    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(call(&mut script, Duration::ZERO).await, Err(TRANSIENT));
    // Attempts start at 0, 1, 3 and 7 s; the next would start at 15 s.
    assert_eq!(script.attempts, 4);
    assert_eq!(start.elapsed(), secs(7));
}

#[tokio::test(start_paused = true)]
async fn attempts_count_against_the_deadline() {
    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(call(&mut script, secs(3)).await, Err(TRANSIENT));
    // Attempts at 0–3, 4–7 and 9–12 s: one that runs when it passes is not dropped.
    assert_eq!(script.attempts, 3);
    assert_eq!(start.elapsed(), secs(12));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_may_start_exactly_at_the_deadline() {
    #[retry(backoff = "fixed", base = "5s", jitter = "none", deadline = secs(10))]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let mut script = Script::new(vec![TRANSIENT; 2]);
    assert_eq!(call(&mut script).await, Ok(3));
    let mut script = Script::new(vec![TRANSIENT; 3]);
    assert_eq!(call(&mut script).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn a_hint_past_the_deadline_ends_the_call_at_once() {
    let start = Instant::now();
    let hinted = throttled_for(secs(11));
    let mut script = Script::new([hinted.clone()]);
    assert_eq!(call(&mut script, Duration::ZERO).await, Err(hinted));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn may_be_computed_or_absent() {
    #[retry(max = 9, backoff = "fixed", jitter = "none", deadline = limit)]
    async fn call(script: &mut Script, limit: Option<Duration>) -> Result<usize, Failure> {
        script.next()
    }

    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert!(call(&mut script, Some(millis(2500))).await.is_err());
    assert_eq!(script.attempts, 3);
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert!(call(&mut script, None).await.is_err());
    assert_eq!(script.attempts, 10);
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert!(call(&mut script, Some(Duration::MAX)).await.is_err());
    assert_eq!(script.attempts, 10);
}

/// A short deadline is accepted if an attempt can start before the first delay, and attempts start.
#[tokio::test(start_paused = true)]
async fn a_short_deadline_allows_attempts_without_a_delay() {
    #[retry(max = 1, jitter = "none", deadline = "500ms", validate = |number| at_least(2, *number), on = |_| true)]
    async fn asked_again_at_once(attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        Ok(*attempts)
    }

    #[retry(max = 1, backoff = ["5s"], cap = "100ms", jitter = "none", deadline = "500ms", on = |_| true)]
    async fn under_a_cap(attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        at_least(2, *attempts).map(|()| *attempts)
    }

    #[retry(max = 1, jitter = "none", deadline = "500ms", timed_out(base = "10ms"), on = |_| Verdict::TIMEOUT)]
    async fn by_a_section(attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        at_least(2, *attempts).map(|()| *attempts)
    }

    #[retry(max = 0, deadline = "500ms", on = |_| true)]
    async fn never(attempts: &mut u32) -> Result<u32, String> {
        *attempts += 1;
        Ok(*attempts)
    }

    fn at_least(least: u32, number: u32) -> Result<(), String> {
        if number < least {
            return Err(format!("{number} is below {least}"));
        }
        Ok(())
    }

    assert_eq!(asked_again_at_once(&mut 0).await, Ok(2));
    assert_eq!(under_a_cap(&mut 0).await, Ok(2));
    assert_eq!(by_a_section(&mut 0).await, Ok(2));
    assert_eq!(never(&mut 0).await, Ok(1));
}

/// Values with a macro, whose `return` could otherwise leave the function.
#[tokio::test(start_paused = true)]
async fn macros_in_values_can_use_surrounding_variables() {
    struct Client {
        breaker: Breaker,
        quota: RateLimiter<Quota>,
        patience: Duration,
    }

    macro_rules! of {
        ($client:ident, $field:ident) => {
            $client.$field
        };
    }

    impl Client {
        #[retry(
            max = "unlimited",
            jitter = "none",
            deadline = of!(self, patience),
            timeout = of!(self, patience).max(secs(20)),
            breaker = &of!(self, breaker),
            limiter = &of!(self, quota),
        )]
        async fn call(&self, script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }
    }

    let client = Client {
        breaker: Breaker::new(),
        quota: RateLimiter::fixed(1000, secs(1)),
        patience: secs(10),
    };
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(client.call(&mut script).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 4);
}

#[retry(max = 9, backoff = "fixed", base = "2s", jitter = "none", total_delay = "5s", give_up = expect_deadline)]
async fn limited_pauses(script: &mut Script, work: Duration) -> Result<usize, Failure> {
    sleep(work).await;
    script.next()
}

const LIMITED_PAUSES: Policy = Policy::fixed(secs(2))
    .max(9)
    .jitter(retry_runtime::Jitter::None)
    .total_delay(secs(5));

#[tokio::test(start_paused = true)]
async fn pauses_may_have_a_limit_together() {
    for (steps, attempts, pauses, outcome) in rows! {
        // However long attempts take.
        vec![TRANSIENT; 9], 3, 4, Err(TRANSIENT);
        // A server's hint counts, too.
        vec![throttled_for(secs(5)), TRANSIENT], 2, 5, Err(TRANSIENT);
        vec![throttled_for(secs(6))], 1, 0, Err(throttled_for(secs(6)));
        vec![TRANSIENT; 2], 3, 4, Ok(3);
    } {
        let (start, mut script) = (Instant::now(), Script::new(steps.clone()));
        assert_eq!(limited_pauses(&mut script, secs(100)).await, outcome);
        let attempts_and_time =
            |script: &Script, start: Instant| (script.attempts, start.elapsed().as_secs());
        let worked = 100 * attempts as u64;
        assert_eq!(
            attempts_and_time(&script, start),
            (attempts, worked + pauses)
        );

        let (start, script) = (Instant::now(), std::cell::RefCell::new(Script::new(steps)));
        let called = LIMITED_PAUSES.call(async || {
            sleep(secs(100)).await;
            script.borrow_mut().next()
        });
        assert_eq!(called.await, outcome);
        assert_eq!(
            attempts_and_time(&script.borrow(), start),
            (attempts, worked + pauses)
        );
    }
}

/// The error before the attempt that the time ended, if there is one.
fn last_real_error(gave_up: GaveUp<Failure>) -> Failure {
    let mut errors = gave_up.into_errors();
    let last = errors.pop().expect("a call that gave up has an error");
    errors.pop().filter(|_| last == SLOW).unwrap_or(last)
}

const SLOW: Failure = support::failure::TIMEOUT;

#[tokio::test(start_paused = true)]
async fn at_the_end_an_attempt_may_be_dropped_for_the_error_before_it() {
    #[retry(max = "unlimited", backoff = "fixed", base = "1s", jitter = "none", give_up = last_real_error,
        deadline = end - Instant::now(), timeout = end - Instant::now())]
    async fn call(end: Instant, script: &mut Script) -> Result<usize, Failure> {
        let outcome = script.next();
        sleep(secs(3)).await;
        outcome
    }

    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(call(start + secs(10), &mut script).await, Err(TRANSIENT));
    // Attempts at 0–3, 4–7 and 8–10 s.
    assert_eq!((script.attempts, start.elapsed()), (3, secs(10)));
    let mut script = Script::new([]);
    assert_eq!(call(Instant::now() + secs(2), &mut script).await, Err(SLOW));
}
