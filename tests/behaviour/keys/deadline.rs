use std::time::Duration;

use retry_runtime::{Breaker, GaveUp, Policy, Quota, RateLimiter, Reason, Verdict, retry, testing};
use support::failure::{Failure, TRANSIENT, throttled_for};
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
async fn no_sleep_ends_after_it() {
    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(call(&mut script, Duration::ZERO).await, Err(TRANSIENT));
    // Attempts at 0, 1, 3 and 7 s; the next would begin at 15 s.
    assert_eq!(script.attempts, 4);
    assert_eq!(start.elapsed(), secs(7));
}

#[tokio::test(start_paused = true)]
async fn attempts_count_against_it() {
    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(call(&mut script, secs(3)).await, Err(TRANSIENT));
    // Attempts at 0–3, 4–7 and 9–12 s: one that runs when it passes is not dropped.
    assert_eq!(script.attempts, 3);
    assert_eq!(start.elapsed(), secs(12));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_may_begin_exactly_at_it() {
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
async fn a_hint_past_it_ends_the_call_at_once() {
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

#[tokio::test(start_paused = true)]
async fn of_a_policy() {
    #[retry(policy = policy)]
    async fn call(script: &mut Script, policy: &Policy) -> Result<usize, Failure> {
        script.next()
    }

    let policy = Policy::fixed(secs(1))
        .max(9)
        .jitter(retry_runtime::Jitter::None);
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert!(
        call(&mut script, &policy.deadline(millis(2500)))
            .await
            .is_err()
    );
    assert_eq!(script.attempts, 3);
}

#[test]
fn blocking() {
    #[retry(max = 9, backoff = "fixed", jitter = "none", deadline = "2500ms")]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let skipped = testing::skip_sleeps();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert!(call(&mut script).is_err());
    assert_eq!((script.attempts, skipped.total()), (3, secs(2)));
}

/// Where the first delay is not all that an attempt begins after, a short one is accepted, and attempts begin.
#[tokio::test(start_paused = true)]
async fn a_short_one_leaves_time_for_what_begins_sooner() {
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
async fn macros_in_values_are_read_in_their_place() {
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
