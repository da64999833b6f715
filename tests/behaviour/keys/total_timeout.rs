use std::cell::{Cell, RefCell};
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use futures::future::join;
use futures::stream::{self, Stream, StreamExt};
use retry_protections::{Breaker, ConcurrencyLimiter};
use retry_runtime::seam::AdmissionControl;
use retry_runtime::{GaveUp, Jitter, Policy, Reason, retry, retrying, testing};
use support::failure::{Failure, STOP, TIMEOUT, TRANSIENT};
use tokio::time::{Instant, advance, sleep};

use crate::keys::{Script, millis, secs};

fn expect_deadline(gave_up: GaveUp<Failure>) -> Failure {
    assert_eq!(gave_up.reason(), Reason::Deadline);
    gave_up.into_error()
}

/// Fails after 3 s.
async fn slow(script: &mut Script) -> Result<usize, Failure> {
    let outcome = script.next();
    sleep(secs(3)).await;
    outcome
}

const FIXED: Policy = Policy::fixed(secs(1)).max(99).jitter(Jitter::None);

#[tokio::test(start_paused = true)]
async fn drops_the_running_attempt() {
    #[retry(max = 99, backoff = "fixed", jitter = "none", total_timeout = "10s", give_up = expect_deadline)]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    let (start, recording) = (Instant::now(), testing::record());
    let mut script = Script::new(vec![TRANSIENT; 99]);
    assert_eq!(call(&mut script).await, Err(TIMEOUT));
    // Attempts at 0–3, 4–7 and 8–10 s.
    assert_eq!((script.attempts, start.elapsed()), (3, secs(10)));
    let last = recording.lines().pop().unwrap();
    let expected = "attempt=3 max=99 error=timeout reason=deadline";
    assert!(last.ends_with(expected), "{last}");
}

#[tokio::test(start_paused = true)]
async fn no_pause_ends_after_it() {
    #[retry(max = 99, backoff = "fixed", base = "4s", jitter = "none", total_timeout = "10s", give_up = expect_deadline)]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 99]);
    // Attempts at 0–3 and 7–10 s.
    assert_eq!(call(&mut script).await, Err(TRANSIENT));
    assert_eq!((script.attempts, start.elapsed()), (2, secs(10)));
}

#[tokio::test(start_paused = true)]
async fn the_sooner_of_two_limits_ends_an_attempt() {
    #[retry(max = 99, backoff = "fixed", jitter = "none", timeout = "2s", total_timeout = total, give_up = expect_deadline)]
    async fn call(attempts: &mut u32, total: Duration) -> Result<(), Failure> {
        *attempts += 1;
        pending().await
    }

    for (total, expected, spent) in [
        (millis(1500), 1, millis(1500)),
        // The pause would end just when the time is over.
        (secs(3), 1, secs(2)),
        (secs(7), 3, secs(7)),
        (secs(8), 3, secs(8)),
    ] {
        let (start, mut attempts) = (Instant::now(), 0);
        assert_eq!(call(&mut attempts, total).await, Err(TIMEOUT));
        assert_eq!((attempts, start.elapsed()), (expected, spent), "{total:?}");
    }
}

/// Whatever else would end the call after a timeout.
#[tokio::test(start_paused = true)]
async fn is_the_reason_in_any_case() {
    #[retry(max = 0, idempotent = false, total_timeout = "1s", give_up = expect_deadline)]
    async fn call() -> Result<(), Failure> {
        pending().await
    }

    #[retry(backoff = "none", max = "unlimited", total_timeout = "1s", give_up = expect_deadline)]
    async fn at_once(attempts: &mut u32) -> Result<(), Failure> {
        *attempts += 1;
        sleep(millis(300)).await;
        Err(TRANSIENT)
    }

    let start = Instant::now();
    assert_eq!(call().await, Err(TIMEOUT));
    assert_eq!(start.elapsed(), secs(1));
    let (start, mut attempts) = (Instant::now(), 0);
    assert_eq!(at_once(&mut attempts).await, Err(TIMEOUT));
    assert_eq!((attempts, start.elapsed()), (4, secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_not_retried_keeps_its_reason() {
    fn expect_stop(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(gave_up.reason(), Reason::NotRetryable);
        gave_up.into_error()
    }

    #[retry(total_timeout = "3s", give_up = expect_stop)]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    assert_eq!(call(&mut Script::new([STOP])).await, Err(STOP));
}

#[tokio::test(start_paused = true)]
async fn every_async_form_has_it() {
    struct Client {
        total: Option<Duration>,
        breaker: Breaker,
    }

    #[retry(max = 99, backoff = "fixed", jitter = "none", total_timeout = self.total)]
    impl Client {
        async fn method(&self, script: &mut Script) -> Result<usize, Failure> {
            slow(script).await
        }

        #[retry(breaker = &self.breaker)]
        async fn behind_a_breaker(&self, script: &mut Script) -> Result<usize, Failure> {
            slow(script).await
        }

        fn boxed<'a>(
            &'a self,
            script: &'a RefCell<Script>,
        ) -> Pin<Box<dyn Future<Output = Result<usize, Failure>> + 'a>> {
            Box::pin(async move {
                let outcome = script.borrow_mut().next();
                sleep(secs(3)).await;
                outcome
            })
        }

        #[retry(hedge = "60s")]
        async fn hedged(&self, script: &RefCell<Script>) -> Result<usize, Failure> {
            let outcome = script.borrow_mut().next();
            sleep(secs(3)).await;
            outcome
        }
    }

    let client = Client {
        total: Some(secs(10)),
        breaker: Breaker::new(),
    };
    let unlimited = Client {
        total: None,
        breaker: Breaker::new(),
    };
    let script = || Script::new(vec![TRANSIENT; 99]);
    let expected = (Err(TIMEOUT), 3, secs(10));

    let (start, mut own) = (Instant::now(), script());
    let outcome = client.method(&mut own).await;
    assert_eq!((outcome, own.attempts, start.elapsed()), expected);

    let (start, mut own) = (Instant::now(), script());
    let outcome = client.behind_a_breaker(&mut own).await;
    assert_eq!((outcome, own.attempts, start.elapsed()), expected);

    let (start, own) = (Instant::now(), RefCell::new(script()));
    let outcome = client.boxed(&own).await;
    assert_eq!((outcome, own.borrow().attempts, start.elapsed()), expected);

    let (start, own) = (Instant::now(), RefCell::new(script()));
    let outcome = client.hedged(&own).await;
    assert_eq!((outcome, own.borrow().attempts, start.elapsed()), expected);

    let (start, mut own) = (Instant::now(), script());
    let outcome = retrying!(
        max = 99,
        backoff = "fixed",
        jitter = "none",
        total_timeout = "10s",
        async { slow(&mut own).await }
    )
    .await;
    assert_eq!((outcome, own.attempts, start.elapsed()), expected);

    let (start, own) = (Instant::now(), RefCell::new(script()));
    let called = FIXED.total_timeout(secs(60)).on(|error| *error != STOP);
    let called = called.total_timeout(secs(10)).call(async || {
        let outcome = own.borrow_mut().next();
        sleep(secs(3)).await;
        outcome
    });
    assert_eq!(
        (called.await, own.borrow().attempts, start.elapsed()),
        expected
    );

    let (start, mut own) = (Instant::now(), script());
    assert_eq!(unlimited.method(&mut own).await, Ok(100));
    assert_eq!(start.elapsed(), secs(3 * 100 + 99));
}

/// A hedged attempt has only the time that is left at its start.
#[tokio::test(start_paused = true)]
async fn ends_all_attempts_in_flight() {
    #[retry(max = 9, hedge = "4s", total_timeout = "10s", give_up = expect_deadline)]
    async fn call(attempts: &Cell<u32>) -> Result<(), Failure> {
        attempts.set(attempts.get() + 1);
        pending().await
    }

    let (start, attempts) = (Instant::now(), Cell::new(0));
    assert_eq!(call(&attempts).await, Err(TIMEOUT));
    assert_eq!((attempts.get(), start.elapsed()), (3, secs(10)));
}

#[tokio::test(start_paused = true)]
async fn a_policy_with_one_needs_a_call_that_drops_attempts() {
    #[retry(policy = policy, timeout)]
    async fn opts_in(policy: &Policy, script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    #[retry(policy = policy, timeout = "60s")]
    async fn opts_in_by_value(policy: &Policy, script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    #[retry(policy = policy)]
    async fn only_pauses(policy: &Policy, script: &mut Script) -> Result<usize, Failure> {
        slow(script).await
    }

    let policy: Policy = "max=99, backoff=fixed, jitter=none, total_timeout=10s"
        .parse()
        .unwrap();
    let chain = async |called: bool| {
        let (start, script) = (
            Instant::now(),
            RefCell::new(Script::new(vec![TRANSIENT; 99])),
        );
        let attempt = async || {
            let outcome = script.borrow_mut().next();
            sleep(secs(3)).await;
            outcome
        };
        let outcome = if called {
            policy.policy_timeout().call(attempt).await
        } else {
            policy.call(attempt).await
        };
        (outcome, script.into_inner().attempts, start.elapsed())
    };
    let dropped = (Err(TIMEOUT), 3, secs(10));
    let not_dropped = (Err(TRANSIENT), 3, secs(11));

    let (start, mut script) = (Instant::now(), Script::new(vec![TRANSIENT; 99]));
    let outcome = opts_in(&policy, &mut script).await;
    assert_eq!((outcome, script.attempts, start.elapsed()), dropped);

    let (start, mut script) = (Instant::now(), Script::new(vec![TRANSIENT; 99]));
    let outcome = opts_in_by_value(&policy, &mut script).await;
    assert_eq!((outcome, script.attempts, start.elapsed()), dropped);
    assert_eq!(chain(true).await, dropped);

    let (start, mut script) = (Instant::now(), Script::new(vec![TRANSIENT; 99]));
    let recording = testing::record();
    let outcome = only_pauses(&policy, &mut script).await;
    assert_eq!((outcome, script.attempts, start.elapsed()), not_dropped);
    assert!(recording.lines()[0].starts_with("ignoring the policy's timeout"));
    assert_eq!(chain(false).await, not_dropped);
}

#[tokio::test(start_paused = true)]
async fn a_policy_for_a_decorator_replaces_it() {
    #[retry(wrapper = Retrying, max = 99, backoff = "fixed", jitter = "none", total_timeout = "10s")]
    trait Model {
        async fn ask(&self, script: &mut Script) -> Result<usize, Failure>;
    }

    struct Client;

    impl Model for Client {
        async fn ask(&self, script: &mut Script) -> Result<usize, Failure> {
            slow(script).await
        }
    }

    for (model, end) in [
        (Retrying::new(Client), secs(10)),
        (
            Retrying::with_policy(Client, FIXED.total_timeout(secs(6))),
            secs(6),
        ),
    ] {
        let (start, mut script) = (Instant::now(), Script::new(vec![TRANSIENT; 99]));
        assert_eq!(model.ask(&mut script).await, Err(TIMEOUT));
        assert_eq!(start.elapsed(), end);
    }
}

#[tokio::test(start_paused = true)]
async fn limits_a_stream_until_it_has_succeeded() {
    type Items = Vec<Result<u32, Failure>>;

    fn slow_items(attempts: &Cell<u32>) -> impl Stream<Item = Result<u32, Failure>> + use<> {
        attempts.set(attempts.get() + 1);
        stream::iter(0..4).then(|item| async move {
            sleep(secs(3)).await;
            Ok(item)
        })
    }

    #[retry(stream = "first", total_timeout = "4s")]
    fn first(attempts: &Cell<u32>) -> impl Stream<Item = Result<u32, Failure>> {
        slow_items(attempts)
    }

    #[retry(stream = "buffer", total_timeout = "4s")]
    fn buffered(attempts: &Cell<u32>) -> impl Stream<Item = Result<u32, Failure>> {
        slow_items(attempts)
    }

    let (start, attempts) = (Instant::now(), Cell::new(0));
    let items: Items = first(&attempts).collect().await;
    assert_eq!(items, [Ok(0), Ok(1), Ok(2), Ok(3)]);
    assert_eq!((attempts.get(), start.elapsed()), (1, secs(12)));

    let (start, attempts) = (Instant::now(), Cell::new(0));
    let items: Items = buffered(&attempts).collect().await;
    assert_eq!(items, [Err(TIMEOUT)]);
    assert_eq!((attempts.get(), start.elapsed()), (1, secs(4)));
}

/// Its turn comes just when the time is over. A request that starts then would only be dropped.
#[tokio::test(start_paused = true)]
async fn no_attempt_starts_at_its_end() {
    static LIMIT: ConcurrencyLimiter = ConcurrencyLimiter::fixed(1);

    #[retry(max = 9, limiter = &LIMIT, total_timeout = "10s", give_up = expect_deadline)]
    async fn call(attempts: &Cell<u32>) -> Result<(), Failure> {
        attempts.set(attempts.get() + 1);
        pending().await
    }

    let (start, attempts) = (Instant::now(), Cell::new(0));
    let (first, second) = join(call(&attempts), call(&attempts)).await;
    assert_eq!(first, Err(TIMEOUT));
    assert_eq!(second, Err(STOP));
    assert_eq!((attempts.get(), start.elapsed()), (1, secs(10)));
    assert_eq!(LIMIT.state().running, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_hook_runs_to_its_end_and_no_attempt_follows() {
    #[retry(
        max = 9,
        backoff = "none",
        before_retry = async |_, _| sleep(hook).await,
        total_timeout = "10s",
        give_up = expect_deadline
    )]
    async fn call(attempts: &Cell<u32>, hook: Duration) -> Result<(), Failure> {
        attempts.set(attempts.get() + 1);
        Err(TRANSIENT)
    }

    for (hook, expected) in [(secs(60), 1), (secs(10), 1), (secs(4), 3)] {
        let (start, attempts) = (Instant::now(), Cell::new(0));
        assert_eq!(call(&attempts, hook).await, Err(TRANSIENT));
        assert_eq!(attempts.get(), expected);
        assert_eq!(start.elapsed(), hook * expected);
    }
}

/// `on` stops at the error of the dropped attempt, but the reason is still the time limit.
#[tokio::test(start_paused = true)]
async fn its_reason_does_not_depend_on_the_verdict() {
    #[retry(max = 9, total_timeout = "10s", on = |error| *error == TRANSIENT, give_up = expect_deadline)]
    async fn call() -> Result<(), Failure> {
        pending().await
    }

    assert_eq!(call().await, Err(TIMEOUT));
    let on = |error: &Failure| *error == TRANSIENT;
    let chain = Policy::new()
        .on(on)
        .total_timeout(secs(10))
        .give_up(expect_deadline);
    assert_eq!(
        chain.call(|| pending::<Result<(), _>>()).await,
        Err(TIMEOUT)
    );
}

/// The pause ends a minute late, because other code blocked the thread.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_a_pause_that_ends_late() {
    #[retry(max = 9, backoff = "fixed", jitter = "none", total_timeout = "10s")]
    async fn call(attempts: &Cell<u32>) -> Result<(), Failure> {
        attempts.set(attempts.get() + 1);
        Err(TRANSIENT)
    }

    let late = async || {
        sleep(millis(500)).await;
        advance(secs(60)).await;
    };
    let attempts = Cell::new(0);
    assert_eq!(join(call(&attempts), late()).await.0, Err(TIMEOUT));
    assert_eq!(attempts.take(), 1);
    let chain = FIXED.on(|_: &Failure| true).total_timeout(secs(10));
    let calls = chain.call(async || {
        attempts.set(attempts.get() + 1);
        Err::<(), _>(TRANSIENT)
    });
    assert_eq!(join(calls, late()).await.0, Err(TIMEOUT));
    assert_eq!(attempts.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn that_of_a_policy_does_not_end_a_resumed_stream() {
    let policy = FIXED.total_timeout(secs(10));

    #[retry(policy = policy, stream = "resume", timeout = "9s", attempt = _attempt)]
    fn feed(policy: Policy) -> impl Stream<Item = Result<u32, Failure>> {
        stream::iter([Ok(1), Err(TRANSIENT)]).then(async |item| {
            sleep(secs(8)).await;
            item
        })
    }

    let items = feed(policy).take(5).collect::<Vec<_>>().await;
    assert_eq!(items, [Ok(1); 5]);
}
