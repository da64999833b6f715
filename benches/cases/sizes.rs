//! The size of a call's future if its body keeps a buffer across an `.await`.
//!
//! backon-macros is missing: its expansion does not compile in a function with a const parameter.

use backon::Retryable;
use retry_runtime::retry;
use tokio_retry::RetryIf;
use tokio_retry2::Retry;
use tower::{ServiceExt, service_fn};

use super::peers::{
    TowerPolicy, exponential, exponential_again, exponential_policy, exponential_strategy,
    exponential_strategy2, wrapped,
};
use super::{MAX, Model, ModelError, Way, pause, size_of_future};

/// The sizes of the buffers, in bytes.
pub(crate) const BODIES: [usize; 3] = [64, 1024, 16 * 1024];

/// The future sizes of one way, for each of [`BODIES`].
pub(crate) struct Sizes {
    pub(crate) way: Way,
    pub(crate) futures: [usize; 3],
}

macro_rules! sizes {
    ($($way:ident => $method:ident,)*) => {
        vec![$(Sizes {
            way: Way::$way,
            futures: [
                size_of_future(Model::$method::<{ BODIES[0] }>),
                size_of_future(Model::$method::<{ BODIES[1] }>),
                size_of_future(Model::$method::<{ BODIES[2] }>),
            ],
        }),*]
    };
}

pub(crate) fn all() -> Vec<Sizes> {
    sizes! {
        ByHand => by_hand_keeping,
        ByHandInBlock => by_hand_in_block_keeping,
        Retry => retried_keeping,
        Chain => chained_keeping,
        Backon => backon_keeping,
        TokioRetry => tokio_retry_keeping,
        TokioRetry2 => tokio_retry2_keeping,
        Tryhard => tryhard_keeping,
        Tower => tower_keeping,
        Again => again_keeping,
    }
}

/// Reads the buffer after an `.await`, so that the future keeps it.
fn filled<const N: usize>(buffer: &[u8; N]) -> u64 {
    buffer.iter().map(|byte| u64::from(*byte)).sum()
}

impl Model {
    pub(super) async fn keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let buffer = [7; N];
        let value = self.send(prompt).await?;
        Ok(value + filled(&buffer))
    }

    async fn by_hand_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let buffer = [7; N];
            let pause = match self.send(prompt).await {
                Ok(value) => return Ok(value + filled(&buffer)),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    async fn by_hand_in_block_keeping<const N: usize>(
        &self,
        prompt: &str,
    ) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let attempt = async {
                let buffer = [7; N];
                let value = self.send(prompt).await?;
                Ok::<_, ModelError>(value + filled(&buffer))
            };
            let pause = match attempt.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    async fn retried_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let buffer = [7; N];
        let value = self.send(prompt).await?;
        Ok(value + filled(&buffer))
    }

    async fn backon_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        (|| self.keeping::<N>(prompt))
            .retry(exponential())
            .when(ModelError::is_transient)
            .await
    }

    async fn tokio_retry_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let action = || self.keeping::<N>(prompt);
        RetryIf::start(exponential_strategy(), action, ModelError::is_transient).await
    }

    async fn tokio_retry2_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let action = || async { self.keeping::<N>(prompt).await.map_err(wrapped) };
        Retry::spawn(exponential_strategy2(), action).await
    }

    async fn tryhard_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        tryhard::retry_fn(|| self.keeping::<N>(prompt))
            .retries(MAX)
            .custom_backoff(exponential_policy)
            .await
    }

    async fn tower_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        let service = service_fn(|prompt| self.keeping::<N>(prompt));
        tower::retry::Retry::new(TowerPolicy::new(pause), service)
            .oneshot(prompt)
            .await
    }

    async fn again_keeping<const N: usize>(&self, prompt: &str) -> Result<u64, ModelError> {
        exponential_again()
            .retry_if(|| self.keeping::<N>(prompt), ModelError::is_transient)
            .await
    }
}
