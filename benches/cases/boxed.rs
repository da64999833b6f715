//! Calls behind `dyn Future`, as in methods of trait objects.

use std::future::Future;
use std::pin::Pin;

use backon::Retryable;
use retry_runtime::retry;

use super::peers::exponential;
use super::{MAX, Model, ModelError, pause};

type Boxed<'a> = Pin<Box<dyn Future<Output = Result<u64, ModelError>> + 'a>>;

impl Model {
    pub(super) fn by_hand_boxed<'a>(&'a self, prompt: &'a str) -> Boxed<'a> {
        Box::pin(async move {
            let mut retries = 0;
            loop {
                let pause = match async { self.send(prompt).await }.await {
                    Ok(value) => return Ok(value),
                    Err(error) if retries < MAX && error.is_transient() => pause(retries),
                    Err(error) => return Err(error),
                };
                retries += 1;
                tokio::time::sleep(pause).await;
            }
        })
    }

    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    pub(super) fn retried_boxed<'a>(
        &'a self,
        prompt: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<u64, ModelError>> + 'a>> {
        Box::pin(async move { self.send(prompt).await })
    }

    pub(super) fn backon_boxed<'a>(&'a self, prompt: &'a str) -> Boxed<'a> {
        Box::pin(async move {
            (|| self.call(prompt))
                .retry(exponential())
                .when(ModelError::is_transient)
                .await
        })
    }
}
