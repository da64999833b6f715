//! The cost of keys for a call that succeeds at once.

use std::time::Duration;

use backon::Retryable;
use retry_protections::{Breaker, ConcurrencyLimiter, RateLimiter};
use retry_runtime::{Budget, Cancelled, Event, Policy, Rejected, TimedOut, Verdict, retry};

use super::peers::exponential;
use super::{MAX, Model, ModelError, pause};

/// Stands in for a field of a client.
static POLICY: Policy = Policy::new().max(MAX);

static RATIO: Budget = Budget::ratio(0.1);

const MINUTES: Duration = Duration::from_mins(2);

impl From<TimedOut> for ModelError {
    fn from(_: TimedOut) -> Self {
        Self::Overloaded
    }
}

static BREAKER: Breaker = Breaker::new();

static CONCURRENCY: ConcurrencyLimiter = ConcurrencyLimiter::aimd();

static RATE: RateLimiter = RateLimiter::adaptive();

impl From<Rejected> for ModelError {
    fn from(_: Rejected) -> Self {
        Self::Overloaded
    }
}

impl From<Cancelled> for ModelError {
    fn from(_: Cancelled) -> Self {
        Self::Overloaded
    }
}

/// Some keys need an `on` that returns more than a `bool`.
fn classify(error: &ModelError) -> Verdict {
    if error.is_transient() {
        Verdict::TRANSIENT
    } else {
        Verdict::STOP
    }
}

macro_rules! with_keys {
    ($($name:ident($($key:tt)*))*) => {
        impl Model {$(
            #[retry(on = classify, $($key)*)]
            pub(super) async fn $name(&self, prompt: &str) -> Result<u64, ModelError> {
                self.send(prompt).await
            }
        )*}
    };
}

with_keys! {
    with_none(max = 5)
    with_policy(policy = &POLICY)
    with_deadline(deadline = "2m")
    with_timeout(timeout = "60s")
    with_idempotent(idempotent = false)
    with_cancel(cancel = std::future::pending::<()>())
    with_abort(abort = std::future::pending::<()>())
    with_total_delay(total_delay = "2m")
    with_before_pause(before_pause = async |_error, _next| ())
    with_before_retry(before_retry = async |_error, _next| ())
    with_policy_by_error(policy = |_error| POLICY)
    with_until(until = |value| *value < u64::MAX)
    with_repeats(repeats = 3)
    with_attempt(attempt = _attempt)
    with_give_up(give_up = |gave_up| gave_up.into_errors().remove(0))
    with_fallback(fallback = async |gave_up| Err(gave_up.into_error()))
    with_observe(observe = |event: &Event<'_>| { std::hint::black_box(event.attempt); })
    with_validate(validate = |value| if *value < u64::MAX { Ok(()) } else { Err(ModelError::Overloaded) })
    with_breaker(breaker = &BREAKER)
    with_concurrency_limiter(limiter = &CONCURRENCY)
    with_rate_limiter(limiter = &RATE)
    with_hedge(hedge = "60s")
    with_section(throttled(max = 10, base = "5s"))
    with_budget(budget)
    with_ratio(budget = &RATIO)
}

impl Model {
    #[retry(on = ModelError::is_transient, max = self.attempts.get())]
    pub(super) async fn with_max(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    #[retry(on = ModelError::is_transient, name = prompt)]
    pub(super) async fn with_name(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    #[retry(on = ModelError::is_transient, attempt = attempt)]
    pub(super) async fn with_attempt_numbered(&self, prompt: &str) -> Result<u64, ModelError> {
        std::hint::black_box(attempt.number());
        self.send(prompt).await
    }

    #[retry(on = ModelError::is_transient, attempt = attempt)]
    pub(super) async fn with_attempt_timed(&self, prompt: &str) -> Result<u64, ModelError> {
        std::hint::black_box(attempt.elapsed());
        self.send(prompt).await
    }

    /// A careful loop that reads the clock at its start and after each failure.
    pub(super) async fn by_hand_deadline(&self, prompt: &str) -> Result<u64, ModelError> {
        let start = tokio::time::Instant::now();
        let mut retries = 0;
        loop {
            let pause = match async { self.send(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => {
                    let pause = pause(retries);
                    if start.elapsed() + pause > MINUTES {
                        return Err(error);
                    }
                    pause
                }
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn backon_deadline(&self, prompt: &str) -> Result<u64, ModelError> {
        (|| self.call(prompt))
            .retry(exponential().with_total_delay(Some(MINUTES)))
            .when(ModelError::is_transient)
            .await
    }
}
