//! The clients under test: functions that differ in one key.

use retry_protections::Breaker;
use retry_runtime::seam::AdmissionControl;
use retry_runtime::{Budget, retry};

use crate::server::{Failure, Server};

/// The key that limits the retries of a client.
#[expect(
    clippy::large_enum_variant,
    reason = "only a few exist, and they are rarely moved"
)]
pub(crate) enum Client {
    NoRetries,
    Unprotected,
    Budget(Budget),
    Breaker(Breaker),
    Limiter(Box<dyn AdmissionControl>),
}

impl Client {
    pub(crate) fn limiter(limiter: impl AdmissionControl + 'static) -> Self {
        Self::Limiter(Box::new(limiter))
    }

    pub(crate) async fn call(&self, server: &impl Server, retries: u32) -> Result<(), Failure> {
        match self {
            Self::NoRetries => unprotected(server, 0).await,
            Self::Unprotected => unprotected(server, retries).await,
            Self::Budget(budget) => with_budget(server, retries, budget).await,
            Self::Breaker(breaker) => with_breaker(server, retries, breaker).await,
            Self::Limiter(limiter) => with_limiter(server, retries, limiter).await,
        }
    }
}

#[retry(max = retries, timeout = "3s")]
async fn unprotected(server: &impl Server, retries: u32) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = retries, timeout = "3s", budget = budget)]
async fn with_budget(server: &impl Server, retries: u32, budget: &Budget) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = retries, timeout = "3s", breaker = breaker)]
async fn with_breaker(
    server: &impl Server,
    retries: u32,
    breaker: &Breaker,
) -> Result<(), Failure> {
    server.answer().await
}

#[retry(max = retries, timeout = "3s", limiter = limiter)]
async fn with_limiter(
    server: &impl Server,
    retries: u32,
    limiter: &dyn AdmissionControl,
) -> Result<(), Failure> {
    server.answer().await
}
