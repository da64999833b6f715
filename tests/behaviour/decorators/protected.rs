//! A wrapped client with protections, each in addition to the method's own retries.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use retry_protections::{Breaker, Quota, RateLimiter};
use retry_runtime::{BreakerState, Budget, Event, EventData, Observer, Verdict, retry};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT};
use tokio::time::Instant;

use self::vendor::ModelClient;

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Stands in for another crate.
mod vendor {
    use support::failure::Failure;

    pub(super) trait ModelClient {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }
}

/// The service's first responses, in order; all later ones are a message.
struct Vendor {
    script: RefCell<VecDeque<Failure>>,
    attempts: Cell<u32>,
}

impl Vendor {
    fn new(script: impl IntoIterator<Item = Failure>) -> Self {
        Self {
            script: RefCell::new(script.into_iter().collect()),
            attempts: Cell::new(0),
        }
    }
}

impl ModelClient for Vendor {
    async fn generate(&self, prompt: &str) -> Result<String, Failure> {
        self.attempts.set(self.attempts.get() + 1);
        let failure = self.script.borrow_mut().pop_front();
        failure.map_or_else(|| Ok(format!("{prompt}: done")), Err)
    }
}

#[tokio::test(start_paused = true)]
async fn delays_follow_what_failed() {
    #[retry(wrapper = Adapting, of = ModelClient, max = 5, base = "1s", factor = 2, jitter = "none",
        throttled(base = "10s", cap = "2m"), timed_out(backoff = "none"))]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Adapting::new(Vendor::new([TRANSIENT, THROTTLED, TIMEOUT, THROTTLED]));
    let start = Instant::now();
    assert_eq!(client.generate("a").await.as_deref(), Ok("a: done"));
    // Each retry doubles the delay of its kind.
    assert_eq!(start.elapsed(), secs(1 + 20 + 80));
}

#[tokio::test(start_paused = true)]
async fn a_breaker_keeps_calls_from_a_client_that_is_down() {
    static BREAKER: Breaker = Breaker::new().consecutive_failures(3);

    #[retry(wrapper = Breaking, of = ModelClient, max = 5, backoff = "none", breaker = &BREAKER)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Breaking::new(Vendor::new(vec![TRANSIENT; 3]));
    assert_eq!(client.generate("a").await, Err(TRANSIENT));
    // A rejection, as this error type has it.
    assert_eq!(client.generate("b").await, Err(STOP));
    assert_eq!(client.inner().attempts.get(), 3);
    tokio::time::advance(secs(5)).await;
    assert_eq!(client.generate("c").await.as_deref(), Ok("c: done"));
    assert_eq!(BREAKER.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_budget_bounds_the_retries_of_all_methods() {
    static BUDGET: Budget = Budget::ratio(0.0).capacity(2);

    #[retry(wrapper = Paying, of = ModelClient, max = 5, backoff = "none", budget = &BUDGET)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Paying::new(Vendor::new(vec![TRANSIENT; 100]));
    for attempts in [3, 4, 5] {
        client.generate("a").await.unwrap_err();
        assert_eq!(client.inner().attempts.get(), attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_holds_first_attempts_and_retries() {
    static LIMITER: RateLimiter<Quota> = RateLimiter::fixed(1, secs(2));

    #[retry(wrapper = Limiting, of = ModelClient, max = 5, backoff = "none", limiter = &LIMITER)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Limiting::new(Vendor::new([TRANSIENT]));
    let start = Instant::now();
    client.generate("a").await.unwrap();
    client.generate("b").await.unwrap();
    assert_eq!(client.inner().attempts.get(), 3);
    assert_eq!(start.elapsed(), secs(2 * 2));
}

#[tokio::test(start_paused = true)]
async fn a_predicate_of_ones_own_decides() {
    /// Only what timed out, and what throttles not for long.
    fn is_worth_it(error: &Failure) -> Verdict {
        match error.0.hint() {
            Some(hint) if hint > secs(3) => Verdict::STOP,
            _ if *error == TRANSIENT => Verdict::STOP,
            _ => error.0,
        }
    }

    #[retry(wrapper = Choosing, of = ModelClient, max = 5, backoff = "none", on = is_worth_it)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let short = Failure(Verdict::THROTTLED.after(secs(1)));
    let long = Failure(Verdict::THROTTLED.after(secs(9)));
    for (failure, attempts) in [(TRANSIENT, 1), (TIMEOUT, 2), (short, 2), (long, 1)] {
        let client = Choosing::new(Vendor::new([failure.clone()]));
        let outcome = client.generate("a").await;
        assert_eq!(outcome.is_ok(), attempts == 2, "{failure}");
        assert_eq!(client.inner().attempts.get(), attempts, "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_makes_metrics() {
    #[derive(Default)]
    struct Metrics {
        attempts: AtomicU32,
        retries: AtomicU32,
        succeeded: AtomicU32,
        gave_up: AtomicU32,
    }

    impl Observer for Metrics {
        fn observe(&self, event: &Event<'_>) {
            let counter = match event.data {
                EventData::Started => &self.attempts,
                EventData::Retrying { .. } => &self.retries,
                EventData::Succeeded { .. } => &self.succeeded,
                EventData::GaveUp { .. } => &self.gave_up,
                _ => return,
            };
            counter.fetch_add(1, Relaxed);
        }
    }

    static METRICS: Metrics = Metrics {
        attempts: AtomicU32::new(0),
        retries: AtomicU32::new(0),
        succeeded: AtomicU32::new(0),
        gave_up: AtomicU32::new(0),
    };

    #[retry(wrapper = Measured, of = ModelClient, max = 1, backoff = "none", observe = &METRICS)]
    trait Copied {
        async fn generate(&self, prompt: &str) -> Result<String, Failure>;
    }

    let client = Measured::new(Vendor::new([TRANSIENT, TRANSIENT, TRANSIENT]));
    client.generate("a").await.unwrap_err();
    client.generate("b").await.unwrap();
    client.generate("c").await.unwrap();
    let counters = [
        &METRICS.attempts,
        &METRICS.retries,
        &METRICS.succeeded,
        &METRICS.gave_up,
    ];
    assert_eq!(counters.map(|counter| counter.load(Relaxed)), [5, 2, 2, 1]);
}
