//! The key `abort`: a call ends at once in any state, and everything that it holds is released.

use retry_runtime::Cancelled;
use support::prelude::*;
use tokio::sync::oneshot;
use tokio::task::consume_budget;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

/// A server whose requests take a second each, and fail.
#[derive(Default)]
struct Server {
    begun: Cell<u32>,
    ended: Cell<u32>,
}

#[derive(Debug, PartialEq)]
enum CallError {
    Cancelled,
    Failed(Failure),
}

impl From<Cancelled> for CallError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<Rejected> for CallError {
    fn from(_: Rejected) -> Self {
        Self::Failed(TRANSIENT)
    }
}

impl Server {
    async fn attempt(&self) -> Result<u32, CallError> {
        self.begun.set(self.begun.get() + 1);
        sleep(secs(1)).await;
        self.ended.set(self.ended.get() + 1);
        Err(CallError::Failed(TRANSIENT))
    }
}

#[retry(jitter = "none", on = |_| true, abort = token.cancelled())]
async fn function(server: &Server, token: &CancellationToken) -> Result<u32, CallError> {
    server.attempt().await
}

async fn expression(server: &Server, token: &CancellationToken) -> Result<u32, CallError> {
    let abort = token.cancelled();
    retrying!(jitter = "none", on = |_| true, abort = abort, async {
        server.attempt().await
    })
    .await
}

#[retry(wrapper = Wrapped, jitter = "none", on = |_| true, abort = token.cancelled())]
trait Call {
    async fn call(&self, token: &CancellationToken) -> Result<u32, CallError>;
}

impl Call for &Server {
    async fn call(&self, _: &CancellationToken) -> Result<u32, CallError> {
        self.attempt().await
    }
}

async fn chain(server: &Server, token: &CancellationToken) -> Result<u32, CallError> {
    let chain = EXACT.on(|_: &CallError| true).abort(token.cancelled());
    chain.call(|| server.attempt()).await
}

/// Has keys that hold a resource during an attempt or a wait, and keys that apply to other ends.
#[retry(jitter = "none", on = |_| true, attempt = attempt, deadline = "1h", breaker = breaker, limiter = limiter,
    budget = budget, fallback = async |_| panic!("nobody wants another answer"),
    abort = token.cancelled())]
async fn with_other_keys(
    server: &Server,
    token: &CancellationToken,
    breaker: &Breaker,
    limiter: &ConcurrencyLimiter,
    budget: &Budget,
) -> Result<u32, CallError> {
    let _ = attempt.number();
    server.attempt().await
}

async fn chain_with_other_keys(
    server: &Server,
    token: &CancellationToken,
    breaker: &Breaker,
    limiter: &ConcurrencyLimiter,
    budget: &Budget,
) -> Result<u32, CallError> {
    let unwanted = async |_: GaveUp<CallError>| -> Result<u32, CallError> {
        panic!("nobody wants another answer")
    };
    EXACT
        .deadline(secs(3600))
        .on(|_: &CallError| true)
        .breaker(breaker)
        .limiter(limiter)
        .budget(budget)
        .fallback(unwanted)
        .abort(token.cancelled())
        .call(|| server.attempt())
        .await
}

#[tokio::test(start_paused = true)]
async fn every_form_ends_in_an_attempt_in_a_pause_and_before_the_first() {
    // Attempts start after 0, 2 and 5 s, and take one second.
    for (after, begun, ended) in [
        (0, 0, 0),
        (500, 1, 0),
        (1500, 1, 1),
        (2500, 2, 1),
        (4500, 2, 2),
    ] {
        macro_rules! check {
            ($form:literal, |$server:ident, $token:ident| $call:expr) => {
                let ($server, token) = (Server::default(), CancellationToken::new());
                let $token = &token;
                let (recording, start) = (testing::record(), Instant::now());
                let aborts = token.clone();
                if after == 0 {
                    aborts.cancel();
                } else {
                    tokio::spawn(async move {
                        sleep(millis(after)).await;
                        aborts.cancel();
                    });
                }
                assert_eq!($call.await, Err(CallError::Cancelled), $form);
                assert_eq!(start.elapsed(), millis(after), $form);
                let seen = ($server.begun.get(), $server.ended.get());
                assert_eq!(seen, (begun, ended), "{} after {after} ms", $form);
                assert_eq!(recording.reasons(), [Reason::Cancelled], $form);
                assert_eq!(recording.attempts().last(), Some(&begun), $form);
            };
        }
        let (breaker, limiter) = (Breaker::new(), ConcurrencyLimiter::aimd());
        let budget = Budget::standard();
        check!("function", |server, token| function(&server, token));
        check!("expression", |server, token| expression(&server, token));
        check!("trait", |server, token| Wrapped::new(&server).call(token));
        check!("with other keys", |server, token| {
            with_other_keys(&server, token, &breaker, &limiter, &budget)
        });
        check!("chain", |server, token| chain(&server, token));
        check!("chain with other keys", |server, token| {
            chain_with_other_keys(&server, token, &breaker, &limiter, &budget)
        });
        assert_eq!((limiter.running(), limiter.waiting()), (0, 0));
        // Of each of the two calls, only a retry that started was paid for.
        let left = 500 - 2 * 14 * begun.saturating_sub(1);
        assert_eq!(budget.to_string(), format!("{left} of 500 tokens"));
    }
}

/// A hook or a fallback that runs is dropped.
#[tokio::test(start_paused = true)]
async fn abort_ends_the_wait_for_a_turn_a_hook_and_a_fallback() {
    scripted! {
        #[retry(limiter = limiter, on = |_| true, abort = sleep(millis(1500)))]
        async fn waiting(limiter: &RateLimiter<Quota>) -> Result<u32, CallError> = Ok(42);
        #[retry(backoff = "none", on = |_| true, before_retry = async |_, _| sleep(secs(60)).await,
            abort = sleep(millis(1500)))]
        async fn in_hook() -> Result<u32, CallError> = Err(CallError::Failed(TRANSIENT));
        #[retry(on = |_| false, fallback = async |_| { sleep(secs(60)).await; Ok(7) }, abort = sleep(millis(1500)))]
        async fn in_fallback() -> Result<u32, CallError> = Err(CallError::Failed(STOP));
    }

    let slow = RateLimiter::fixed(1, secs(60));
    assert_eq!(is_send(waiting(&slow)).await, Ok(42));
    let retries = |_: &CallError| true;
    let chain = || Policy::none().on(retries).abort(sleep(millis(1500)));
    let fail = async || Err::<u32, _>(CallError::Failed(TRANSIENT));
    let late = async |_: GaveUp<CallError>| {
        sleep(secs(60)).await;
        Ok(7)
    };
    let (recording, start) = (testing::record(), Instant::now());
    let cancelled = Err(CallError::Cancelled);
    assert_rows! {
        waiting(&slow).await => cancelled;
        chain().limiter(&slow).call(async || Ok(42)).await => cancelled;
        in_hook().await => cancelled;
        chain().before_retry(|_: &CallError, _| sleep(secs(60))).call(fail).await => cancelled;
        in_fallback().await => cancelled;
        chain().fallback(late).call(fail).await => cancelled;
    }
    assert_eq!((start.elapsed(), slow.waiting()), (millis(6 * 1500), 0));
    assert_eq!(recording.reasons(), [Reason::Cancelled; 6]);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_ready_is_not_lost() {
    async fn respond() -> Result<u32, Box<dyn Error + Send + Sync>> {
        sleep(secs(1)).await;
        Ok(42)
    }

    scripted! {
        #[retry(abort = sleep(secs(1)), on = |_| true)]
        async fn call() -> Result<u32, Box<dyn Error + Send + Sync>> = respond().await;
    }

    assert_eq!(call().await.unwrap(), 42);
    let chain = Policy::new().abort(sleep(secs(1)));
    assert_eq!(chain.call(respond).await.unwrap(), 42);
}

#[tokio::test(start_paused = true)]
async fn standard_errors_can_represent_an_abort() {
    scripted! { #[retry(abort = sleep(secs(1)))] async fn call() -> io::Result<u32> = pending().await; }

    // An outer call doesn't retry it.
    #[retry]
    async fn outer(calls: &mut u32) -> io::Result<u32> {
        *calls += 1;
        call().await
    }

    let mut calls = 0;
    let error = outer(&mut calls).await.unwrap_err();
    assert!(error.get_ref().unwrap().is::<Cancelled>());
    assert_eq!((error.to_string(), calls), ("cancelled".into(), 1));
}

/// One that never lets a task do more than tokio allows in one poll.
#[tokio::test]
async fn a_busy_body_does_not_delay_an_abort() {
    #[retry(abort = async { let _ = aborts.await; }, on = |_| true)]
    async fn call(aborts: oneshot::Receiver<()>) -> Result<u32, CallError> {
        loop {
            consume_budget().await;
        }
    }

    let (sender, aborts) = oneshot::channel();
    tokio::spawn(async move {
        yield_now().await;
        sender.send(()).unwrap();
    });
    assert_eq!(call(aborts).await, Err(CallError::Cancelled));
}
