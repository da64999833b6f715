//! The keys `before_pause` and `before_retry`: called once for each retry, with the error and the next attempt.

use retry_runtime::own_loop::NextAttempt;
use support::prelude::*;

#[tokio::test(start_paused = true)]
async fn each_hook_gets_the_error_before_the_retry() {
    scripted! {
        #[retry(jitter = "none", before_pause = async |error, _| seen.push(error.clone()),
            before_retry = async |error, _| seen.push(error.clone()))]
        async fn function(seen: &mut Vec<Failure>);
        #[retry(jitter = "none", before_pause = |error, _| seen.push(error.clone()),
            before_retry = |error, _| seen.push(error.clone()))]
        fn blocking(seen: &mut Vec<Failure>);
    }

    let _skipped = testing::skip_sleeps();
    let script = || Script::new([TRANSIENT, THROTTLED]);
    let mut seen = Vec::new();
    assert_eq!(function(&mut seen, &mut script()).await, Ok(3));
    assert_eq!(blocking(&mut seen, &mut script()), Ok(3));
    let of_a_call = [TRANSIENT, TRANSIENT, THROTTLED, THROTTLED];
    assert_eq!(seen, [of_a_call.clone(), of_a_call].concat());
}

/// A token that is refreshed between attempts, by what the body borrows too.
struct Account {
    token: u32,
}

impl Account {
    #[retry(max = 2, jitter = "none", on = |_| true,
        before_retry = async |_: &Failure, _: NextAttempt| refresh(&mut self.token).await)]
    async fn ask(&mut self, wanted: u32) -> Result<u32, Failure> {
        (self.token == wanted).then_some(wanted).ok_or(TRANSIENT)
    }
}

async fn refresh(token: &mut u32) -> Result<(), &'static str> {
    sleep(secs(3)).await;
    *token += 1;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_change_the_bodys_borrows() {
    let start = Instant::now();
    let mut account = Account { token: 7 };
    assert_eq!(is_send(account.ask(8)).await, Ok(8));
    assert_eq!(start.elapsed(), secs(1 + 3));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_returns_the_failure_keeps_the_reason_of_a_hook() {
    #[retry(max = 3, backoff = "none", before_retry = async |_, _| Err::<(), _>("no token"),
        fallback = async |gave_up| Err(gave_up.into_error()), name = "call")]
    async fn call() -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    let recording = testing::record();
    assert_eq!(call().await, Err(TRANSIENT));
    let [_, last] = &recording.lines()[..] else {
        panic!("{:?}", recording.lines());
    };
    let end = "error=transient; no token reason=hook failed";
    assert!(last.ends_with(end), "{last}");
}
