//! The keys `before_pause` and `before_retry`: once for each retry, with the error and what follows it.

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

/// Has every key that keeps a value during a pause or ends a call during it.
#[retry(jitter = "none", attempt = attempt, deadline = "1h", budget, breaker = &world.0, limiter = &world.1,
    cancel = world.2.cancelled(), until = |value| *value > 0, validate = |_| Ok(()),
    observe = |_| (), before_pause = async |error, next| seen.later("pause", error, next).await,
    before_retry = async |error, next| seen.later("retry", error, next).await)]
async fn with_other_keys(
    seen: &Seen,
    world: &World,
    script: &mut Script,
) -> Result<usize, Failure> {
    let _ = attempt.number();
    script.next()
}

type World = (Breaker, ConcurrencyLimiter, CancellationToken);

#[tokio::test(start_paused = true)]
async fn each_hook_runs_once_for_each_retry_with_the_error() {
    let world = (
        Breaker::new(),
        ConcurrencyLimiter::aimd(),
        CancellationToken::new(),
    );
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
    check!("with other keys", |seen, script| with_other_keys(
        &seen, &world, script
    )
    .await);
}

/// A token that is refreshed between attempts, by what the body borrows too.
struct Account {
    token: u32,
}

impl Account {
    #[retry(max = 2, jitter = "none", deadline = "10s", on = |_| true,
        before_retry = async |_: &Failure, _: NextAttempt| refresh(&mut self.token, takes).await)]
    async fn ask(&mut self, wanted: u32, takes: Duration) -> Result<u32, Failure> {
        (self.token == wanted).then_some(wanted).ok_or(TRANSIENT)
    }
}

async fn refresh(token: &mut u32, takes: Duration) -> Result<(), &'static str> {
    sleep(takes).await;
    *token += 1;
    (*token <= 90).then_some(()).ok_or("locked out")
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_change_the_bodys_borrows_and_its_time_counts() {
    let start = Instant::now();
    let mut account = Account { token: 7 };
    assert_eq!(is_send(account.ask(8, secs(3))).await, Ok(8));
    assert_eq!(start.elapsed(), secs(1 + 3));

    let recording = testing::record();
    assert_eq!(account.ask(9, secs(10)).await, Err(TRANSIENT));
    assert_eq!(recording.attempts(), [1]);
    assert_eq!(recording.reasons(), [Reason::Deadline]);
}

#[tokio::test(start_paused = true)]
async fn a_hooks_error_ends_the_call_with_the_failure() {
    scripted! {
        #[retry(before_pause = async |_, _| Err("closing"), budget = budget,
            give_up = |gave_up: GaveUp<Failure>| { reason.set(Some(gave_up.reason())); gave_up.into_error() })]
        async fn closing(budget: &Budget, reason: &Cell<Option<Reason>>);
    }

    let recording = testing::record();
    let start = Instant::now();
    let mut account = Account { token: 90 };
    assert_eq!(account.ask(0, secs(2)).await, Err(TRANSIENT));
    assert_eq!(start.elapsed(), secs(1 + 2));
    assert!(recording.lines()[1].ends_with("error=transient; locked out reason=hook failed"));

    let (start, reason, budget) = (Instant::now(), Cell::default(), Budget::standard());
    let ran = run!([TRANSIENT], |script| closing(&budget, &reason, script)
        .await);
    assert_eq!((ran, start.elapsed()), ((Err(TRANSIENT), 1), secs(0)));
    assert_eq!(reason.get(), Some(Reason::HookFailed));
    assert_eq!(budget.to_string(), "500 of 500 tokens");
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
    let lines = recording.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[1].ends_with("error=transient; no token reason=hook failed"),
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_retry_no_hook() {
    scripted! {
        #[retry(max = 1, jitter = "none", until = |value| *value > 1, cancel = sleep(cancels),
            before_retry = async |error, next| seen.later("retry", error, next).await)]
        async fn call(seen: &Seen, cancels: Duration);
    }

    // The last failure, a value that was rejected without an error, and a pause that is cancelled.
    for (steps, cancels, retries) in [
        (vec![TRANSIENT, TRANSIENT], secs(9), 1),
        (vec![STOP], secs(9), 0),
        (vec![], secs(9), 0),
        (vec![TRANSIENT], millis(500), 0),
    ] {
        let seen = Seen::default();
        let _ = call(&seen, cancels, &mut Script::new(steps)).await;
        assert_eq!(seen.0.borrow().len(), retries);
    }
}

/// The hook takes two seconds before a pause of one.
#[tokio::test(start_paused = true)]
async fn a_pause_that_would_end_too_late_after_its_hook_does_not_start() {
    scripted! {
        #[retry(jitter = "none", deadline = deadline, before_pause = async |_, _| sleep(secs(2)).await)]
        async fn call(deadline: Duration);
    }

    for (deadline, took, ran, reason) in rows! {
        millis(2_999), secs(2), (Err(TRANSIENT), 1), Some(Reason::Deadline);
        secs(3), secs(3), (Ok(2), 2), None;
    } {
        let (start, recording) = (Instant::now(), testing::record());
        assert_eq!(
            run!([TRANSIENT], |script| call(deadline, script).await),
            ran
        );
        assert_eq!(start.elapsed(), took);
        assert_eq!(recording.reasons(), Vec::from_iter(reason));
    }
}
