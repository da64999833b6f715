//! By other crates, each as its own documentation does it.

use std::time::Duration;

use backon::{BlockingRetryable, ConstantBuilder, ExponentialBuilder, Retryable};
use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, FixedInterval, jitter};
use tryhard::RetryPolicy;

use super::{BASE, CAP, FACTOR, MAX, Model, ModelError, Page, pause};

fn exponential() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(BASE)
        .with_factor(2.0)
        .with_max_delay(CAP)
        .with_max_times(MAX as usize)
        .with_jitter()
}

/// 2 ms to the power of the retry, times 500: 1 s, 2 s, 4 s, …
fn exponential_strategy() -> impl Iterator<Item = Duration> {
    ExponentialBackoff::from_millis(u64::from(FACTOR))
        .factor(500)
        .max_delay(CAP)
        .map(jitter)
        .take(MAX as usize)
}

/// tryhard's own shapes know neither a condition nor jitter, so a function stands in for them, as it suggests.
fn exponential_policy(attempt: u32, error: &ModelError) -> RetryPolicy {
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
            .retry(
                ConstantBuilder::new()
                    .with_delay(Duration::ZERO)
                    .with_max_times(MAX as usize),
            )
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
}
