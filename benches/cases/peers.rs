//! Calls with other crates, each used as its documentation shows.

use std::time::Duration;

use backon::{BlockingRetryable, ConstantBuilder, ExponentialBuilder, Retryable};
use backon_macros::backon;
use tokio::time::Sleep;
use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, FixedInterval, jitter};
use tokio_retry2::strategy as strategy2;
use tokio_retry2::{Retry, RetryError};
use tower::retry::Policy;
use tower::{ServiceExt, service_fn};
use tryhard::RetryPolicy;

use super::{BASE, CAP, FACTOR, MAX, Model, ModelError, Page, pause};

pub(super) fn exponential() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(BASE)
        .with_factor(2.0)
        .with_max_delay(CAP)
        .with_max_times(MAX as usize)
        .with_jitter()
}

fn at_once() -> ConstantBuilder {
    ConstantBuilder::new()
        .with_delay(Duration::ZERO)
        .with_max_times(MAX as usize)
}

/// 2 ms to the power of the retry, times 500: 1 s, 2 s, 4 s, …
pub(super) fn exponential_strategy() -> impl Iterator<Item = Duration> {
    ExponentialBackoff::from_millis(u64::from(FACTOR))
        .factor(500)
        .max_delay(CAP)
        .map(jitter)
        .take(MAX as usize)
}

pub(super) fn exponential_strategy2() -> impl Iterator<Item = Duration> {
    strategy2::ExponentialBackoff::from_millis(u64::from(FACTOR))
        .factor(500)
        .max_delay(CAP)
        .map(strategy2::jitter)
        .take(MAX as usize)
}

/// tokio-retry2's condition: wraps the error.
pub(super) fn wrapped(error: ModelError) -> RetryError<ModelError> {
    if error.is_transient() {
        RetryError::transient(error)
    } else {
        RetryError::permanent(error)
    }
}

/// tryhard's built-in shapes don't support a condition or jitter, so this uses a function, as tryhard suggests.
pub(super) fn exponential_policy(attempt: u32, error: &ModelError) -> RetryPolicy {
    if error.is_transient() {
        RetryPolicy::Delay(pause(attempt - 1))
    } else {
        RetryPolicy::Break
    }
}

fn policy_at_once(_: u32, error: &ModelError) -> RetryPolicy {
    if error.is_transient() {
        RetryPolicy::Delay(Duration::ZERO)
    } else {
        RetryPolicy::Break
    }
}

/// tower doesn't include a policy that distinguishes errors, so users write their own. This policy waits for `pause`.
#[derive(Clone)]
pub(super) struct TowerPolicy {
    retries: u32,
    pause: fn(u32) -> Duration,
}

impl TowerPolicy {
    pub(super) const fn new(pause: fn(u32) -> Duration) -> Self {
        Self { retries: 0, pause }
    }
}

impl<Request: Copy, Value> Policy<Request, Value, ModelError> for TowerPolicy {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Request, outcome: &mut Result<Value, ModelError>) -> Option<Sleep> {
        match outcome {
            Err(error) if self.retries < MAX && error.is_transient() => {
                let pause = (self.pause)(self.retries);
                self.retries += 1;
                Some(tokio::time::sleep(pause))
            }
            _ => None,
        }
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        Some(*request)
    }
}

pub(super) fn exponential_again() -> again::RetryPolicy {
    again::RetryPolicy::exponential(BASE)
        .with_max_delay(CAP)
        .with_max_retries(MAX as usize)
        .with_jitter(true)
}

impl Model {
    pub(super) async fn backon(&self, prompt: &str) -> Result<u64, ModelError> {
        (|| self.call(prompt))
            .retry(exponential())
            .when(ModelError::is_transient)
            .await
    }

    pub(super) async fn backon_large(&self, prompt: &str) -> Result<Page, ModelError> {
        (|| self.call_large(prompt))
            .retry(exponential())
            .when(ModelError::is_transient)
            .await
    }

    pub(super) fn backon_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        (|| self.answer(prompt))
            .retry(exponential())
            .when(ModelError::is_transient)
            .call()
    }

    pub(super) async fn backon_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        (|| self.call(prompt))
            .retry(at_once())
            .when(ModelError::is_transient)
            .await
    }

    pub(super) async fn tokio_retry(&self, prompt: &str) -> Result<u64, ModelError> {
        RetryIf::start(
            exponential_strategy(),
            || self.call(prompt),
            ModelError::is_transient,
        )
        .await
    }

    pub(super) async fn tokio_retry_large(&self, prompt: &str) -> Result<Page, ModelError> {
        RetryIf::start(
            exponential_strategy(),
            || self.call_large(prompt),
            ModelError::is_transient,
        )
        .await
    }

    pub(super) async fn tokio_retry_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        RetryIf::start(
            FixedInterval::from_millis(0).take(MAX as usize),
            || self.call(prompt),
            ModelError::is_transient,
        )
        .await
    }

    pub(super) async fn tryhard(&self, prompt: &str) -> Result<u64, ModelError> {
        tryhard::retry_fn(|| self.call(prompt))
            .retries(MAX)
            .custom_backoff(exponential_policy)
            .await
    }

    pub(super) async fn tryhard_large(&self, prompt: &str) -> Result<Page, ModelError> {
        tryhard::retry_fn(|| self.call_large(prompt))
            .retries(MAX)
            .custom_backoff(exponential_policy)
            .await
    }

    pub(super) async fn tryhard_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        tryhard::retry_fn(|| self.call(prompt))
            .retries(MAX)
            .custom_backoff(policy_at_once)
            .await
    }

    #[backon(backoff = exponential, sleep = tokio::time::sleep, when = ModelError::is_transient)]
    pub(super) async fn backon_macros(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    #[backon(backoff = exponential, sleep = tokio::time::sleep, when = ModelError::is_transient)]
    pub(super) async fn backon_macros_large(&self, prompt: &str) -> Result<Page, ModelError> {
        self.send_large(prompt).await
    }

    #[backon(backoff = exponential, sleep = std::thread::sleep, when = ModelError::is_transient)]
    pub(super) fn backon_macros_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        self.answer(prompt)
    }

    #[backon(backoff = at_once, sleep = tokio::time::sleep, when = ModelError::is_transient)]
    pub(super) async fn backon_macros_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    pub(super) async fn tokio_retry2(&self, prompt: &str) -> Result<u64, ModelError> {
        let action = || async { self.send(prompt).await.map_err(wrapped) };
        Retry::spawn(exponential_strategy2(), action).await
    }

    pub(super) async fn tokio_retry2_large(&self, prompt: &str) -> Result<Page, ModelError> {
        let action = || async { self.send_large(prompt).await.map_err(wrapped) };
        Retry::spawn(exponential_strategy2(), action).await
    }

    pub(super) async fn tokio_retry2_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        let strategy = strategy2::FixedInterval::from_millis(0).take(MAX as usize);
        let action = || async { self.send(prompt).await.map_err(wrapped) };
        Retry::spawn(strategy, action).await
    }

    pub(super) async fn tower(&self, prompt: &str) -> Result<u64, ModelError> {
        let service = service_fn(|prompt| self.call(prompt));
        tower::retry::Retry::new(TowerPolicy::new(pause), service)
            .oneshot(prompt)
            .await
    }

    pub(super) async fn tower_large(&self, prompt: &str) -> Result<Page, ModelError> {
        let service = service_fn(|prompt| self.call_large(prompt));
        tower::retry::Retry::new(TowerPolicy::new(pause), service)
            .oneshot(prompt)
            .await
    }

    pub(super) async fn tower_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        let service = service_fn(|prompt| self.call(prompt));
        tower::retry::Retry::new(TowerPolicy::new(|_| Duration::ZERO), service)
            .oneshot(prompt)
            .await
    }

    pub(super) async fn again(&self, prompt: &str) -> Result<u64, ModelError> {
        exponential_again()
            .retry_if(|| self.call(prompt), ModelError::is_transient)
            .await
    }

    pub(super) async fn again_large(&self, prompt: &str) -> Result<Page, ModelError> {
        exponential_again()
            .retry_if(|| self.call_large(prompt), ModelError::is_transient)
            .await
    }
}
