//! The keys `before_pause` and `before_retry`: called once for each retry, with the error and the next attempt.

use retry_runtime::own_loop::NextAttempt;
use support::prelude::*;

/// The arguments of hooks, in order.
#[derive(Default)]
struct Seen(RefCell<Vec<String>>);

impl Seen {
    fn tell(&self, hook: &str, error: &Failure, next: NextAttempt) {
        let (number, pause) = (next.number(), next.pause());
        let seen = format!("{hook} {number} in {pause:?}: {error}");
        self.0.borrow_mut().push(seen);
    }

    async fn later(&self, hook: &str, error: &Failure, next: NextAttempt) {
        sleep(Duration::ZERO).await;
        self.tell(hook, error, next);
    }
}

const SEEN: [&str; 4] = [
    "pause 2 in 1s: transient",
    "retry 2 in 1s: transient",
    "pause 3 in 2s: throttled",
    "retry 3 in 2s: throttled",
];

scripted! {
    #[retry(jitter = "none", before_pause = async |error, next| seen.later("pause", error, next).await,
        before_retry = async |error, next| seen.later("retry", error, next).await)]
    async fn function(seen: &Seen);
    #[retry(jitter = "none", before_pause = |error, next| seen.tell("pause", error, next),
        before_retry = |error, next| seen.tell("retry", error, next))]
    fn blocking(seen: &Seen);
}

#[tokio::test(start_paused = true)]
async fn each_hook_runs_once_for_each_retry_with_the_error() {
    macro_rules! check {
        ($form:literal, |$seen:ident, $script:ident| $call:expr) => {
            let $seen = Seen::default();
            let _skipped = testing::skip_sleeps();
            let ran = run!([TRANSIENT, THROTTLED], |$script| $call);
            assert_eq!(ran, (Ok(3), 3), $form);
            assert_eq!(*$seen.0.borrow(), SEEN, $form);
        };
    }
    check!("function", |seen, script| function(&seen, script).await);
    check!("blocking", |seen, script| blocking(&seen, script));
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
