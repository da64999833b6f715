use futures::future::{LocalBoxFuture, join};
use futures::stream::{self, Stream, StreamExt};
use support::prelude::*;

fn expect_deadline(gave_up: GaveUp<Failure>) -> Failure {
    assert_eq!(gave_up.reason(), Reason::Deadline);
    gave_up.into_error()
}

/// The error of the attempt before the one that the time ended, if there is one.
fn last_real_error(gave_up: GaveUp<Failure>) -> Failure {
    let mut errors = gave_up.into_errors();
    let last = errors.pop().expect("a call that gave up has an error");
    errors.pop().filter(|_| last == TIMEOUT).unwrap_or(last)
}

/// Fails after 3 s.
async fn slow(script: &mut Script) -> Result<usize, Failure> {
    let outcome = script.next();
    sleep(secs(3)).await;
    outcome
}

/// The same for attempts that share their script.
async fn slow_of(script: &RefCell<Script>) -> Result<usize, Failure> {
    let outcome = script.borrow_mut().next();
    sleep(secs(3)).await;
    outcome
}

/// The outcome of a call that fails 99 times, its attempts and its duration.
macro_rules! timed {
    (|$script:ident| $call:expr) => {{
        let start = Instant::now();
        let (outcome, attempts) = run!([TRANSIENT; 99], |$script| $call);
        (outcome, attempts, start.elapsed())
    }};
    (|&$script:ident| $call:expr) => {{
        let (start, script) = (Instant::now(), RefCell::new(Script::new([TRANSIENT; 99])));
        let $script = &script;
        let outcome = $call;
        (outcome, script.borrow().attempts, start.elapsed())
    }};
}

const FIXED: Policy = Policy::fixed(secs(1)).max(99).jitter(Jitter::None);

#[tokio::test(start_paused = true)]
async fn ends_attempts_and_pauses_and_is_the_reason() {
    scripted! {
        #[retry(max = 99, backoff = "fixed", jitter = "none", total_timeout = "10s", give_up = expect_deadline)]
        async fn drops(script: &mut Script) -> Result<usize, Failure> = slow(script).await;
        #[retry(max = 99, backoff = "fixed", jitter = "none", total_timeout = "10s", give_up = last_real_error)]
        async fn returns_the_error_before(script: &mut Script) -> Result<usize, Failure> = slow(script).await;
        #[retry(max = 99, backoff = "fixed", base = "4s", jitter = "none", total_timeout = "10s", give_up = expect_deadline)]
        async fn pauses(script: &mut Script) -> Result<usize, Failure> = slow(script).await;
        #[retry(max = 9, backoff = "none", before_retry = async |_, _| sleep(hook).await, total_timeout = "10s",
            give_up = expect_deadline)]
        async fn hooked(hook: Duration);
        #[retry(max = 0, idempotent = false, total_timeout = "1s", give_up = expect_deadline)]
        async fn once(_script: &mut Script) = pending().await;
        #[retry(backoff = "none", max = "unlimited", total_timeout = "1s", give_up = expect_deadline)]
        async fn at_once(script: &mut Script) -> Result<usize, Failure> = {
            let outcome = script.next();
            sleep(millis(300)).await;
            outcome
        };
    }

    let recording = testing::record();
    assert_rows! {
        // Attempts at 0–3, 4–7 and 8–10 s.
        timed!(|script| drops(script).await) => (Err(TIMEOUT), 3, secs(10));
        timed!(|script| returns_the_error_before(script).await) => (Err(TRANSIENT), 3, secs(10));
        // Attempts at 0–3 and 7–10 s: no pause ends after it.
        timed!(|script| pauses(script).await) => (Err(TRANSIENT), 2, secs(10));
        // A hook runs to its end, and no attempt follows.
        timed!(|script| hooked(secs(60), script).await) => (Err(TRANSIENT), 1, secs(60));
        timed!(|script| hooked(secs(10), script).await) => (Err(TRANSIENT), 1, secs(10));
        timed!(|script| hooked(secs(4), script).await) => (Err(TRANSIENT), 3, secs(12));
        // Regardless of the other reasons to end the call after a timeout.
        timed!(|script| once(script).await) => (Err(TIMEOUT), 0, secs(1));
        timed!(|script| at_once(script).await) => (Err(TIMEOUT), 4, secs(1));
    }
    let dropped = "attempt=3 max=99 error=timeout reason=deadline";
    assert!(recording.lines()[2].ends_with(dropped));
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
        ) -> LocalBoxFuture<'a, Result<usize, Failure>> {
            Box::pin(async move { slow_of(script).await })
        }

        #[retry(hedge = "60s")]
        async fn hedged(&self, script: &RefCell<Script>) -> Result<usize, Failure> {
            slow_of(script).await
        }
    }

    let client = |total| Client {
        total,
        breaker: Breaker::new(),
    };
    let (client, unlimited) = (client(Some(secs(10))), client(None));
    let chain = FIXED.total_timeout(secs(60)).on(|error| *error != STOP);
    let chain = chain.total_timeout(secs(10));
    let expected = (Err(TIMEOUT), 3, secs(10));
    assert_rows! {
        timed!(|script| client.method(script).await) => expected;
        timed!(|script| client.behind_a_breaker(script).await) => expected;
        timed!(|&script| client.boxed(script).await) => expected;
        timed!(|&script| client.hedged(script).await) => expected;
        timed!(|script| retrying!(max = 99, backoff = "fixed", jitter = "none", total_timeout = "10s",
            async { slow(script).await }).await) => expected;
        timed!(|&script| chain.call(async || slow_of(script).await).await) => expected;
        timed!(|script| unlimited.method(script).await) => (Ok(100), 100, secs(3 * 100 + 99));
    }
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
    scripted! {
        #[retry(policy = policy, timeout)]
        async fn opts_in(policy: &Policy, script: &mut Script) -> Result<usize, Failure> = slow(script).await;
        #[retry(policy = policy, timeout = "60s")]
        async fn opts_in_by_value(policy: &Policy, script: &mut Script) -> Result<usize, Failure> = slow(script).await;
        #[retry(policy = policy)]
        async fn only_pauses(policy: &Policy, script: &mut Script) -> Result<usize, Failure> = slow(script).await;
    }

    let text = "max=99, backoff=fixed, jitter=none, total_timeout=10s";
    let policy: Policy = text.parse().unwrap();
    let chain = policy.policy_timeout();
    let dropped = (Err(TIMEOUT), 3, secs(10));
    let not_dropped = (Err(TRANSIENT), 3, secs(11));
    let recording = testing::record();
    assert_rows! {
        timed!(|script| only_pauses(&policy, script).await) => not_dropped;
        timed!(|script| opts_in(&policy, script).await) => dropped;
        timed!(|script| opts_in_by_value(&policy, script).await) => dropped;
        timed!(|&script| chain.call(async || slow_of(script).await).await) => dropped;
        timed!(|&script| policy.call(async || slow_of(script).await).await) => not_dropped;
    }
    assert!(recording.lines()[0].starts_with("ignoring the policy's timeout"));
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

    let policy = FIXED.total_timeout(secs(6));
    for (model, attempts, end) in rows! {
        Retrying::new(Client), 3, 10;
        Retrying::with_policy(Client, policy), 2, 6;
    } {
        let timed = timed!(|script| model.ask(script).await);
        assert_eq!(timed, (Err(TIMEOUT), attempts, secs(end)));
    }
}

#[tokio::test(start_paused = true)]
async fn limits_a_stream_until_it_has_succeeded() {
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
    let items: Vec<_> = first(&attempts).collect().await;
    assert_eq!(items, [Ok(0), Ok(1), Ok(2), Ok(3)]);
    assert_eq!((attempts.take(), start.elapsed()), (1, secs(12)));
    let items: Vec<_> = buffered(&attempts).collect().await;
    assert_eq!(items, [Err(TIMEOUT)]);
    assert_eq!((attempts.get(), start.elapsed()), (1, secs(12 + 4)));
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

/// `on` stops at the error of the dropped attempt, too, but the reason is still the time limit.
#[tokio::test(start_paused = true)]
async fn its_reason_does_not_depend_on_the_verdict() {
    async fn stop_after(time: Duration) -> Result<(), Failure> {
        sleep(time).await;
        Err(STOP)
    }

    scripted! {
        #[retry(total_timeout = "3s", on = |error| *error == TRANSIENT)]
        async fn call(time: Duration) = stop_after(time).await;
    }

    let chain = Policy::new().on(|error: &Failure| *error == TRANSIENT);
    let chain = chain.total_timeout(secs(3));
    let recording = testing::record();
    assert_rows! {
        call(secs(4)).await => Err(TIMEOUT);
        chain.call(|| stop_after(secs(4))).await => Err(TIMEOUT);
        // One that ends in time has its own reason.
        call(secs(3)).await => Err(STOP);
        chain.call(|| stop_after(secs(3))).await => Err(STOP);
    }
    let (late, in_time) = (Reason::Deadline, Reason::NotRetryable);
    assert_eq!(recording.reasons(), [late, late, in_time, in_time]);
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
    #[retry(policy = policy, stream = "resume", timeout = "9s", attempt = _attempt)]
    fn feed(policy: Policy) -> impl Stream<Item = Result<u32, Failure>> {
        stream::iter([Ok(1), Err(TRANSIENT)]).then(async |item| {
            sleep(secs(8)).await;
            item
        })
    }

    let items = feed(FIXED.total_timeout(secs(10)))
        .take(5)
        .collect::<Vec<_>>()
        .await;
    assert_eq!(items, vec![Ok(1); 5]);
}
