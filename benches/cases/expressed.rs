//! Calls with `retrying!`.

use std::future::Future;

use retry_runtime::retrying;

use super::{Model, ModelError, Page};

impl Model {
    pub(super) fn expressed(&self, prompt: &str) -> impl Future<Output = Result<u64, ModelError>> {
        retrying!(
            max = 5,
            base = "1s",
            factor = 2,
            cap = "30s",
            on = ModelError::is_transient,
            async move { self.send(prompt).await }
        )
    }

    pub(super) fn expressed_large(
        &self,
        prompt: &str,
    ) -> impl Future<Output = Result<Page, ModelError>> {
        retrying!(
            max = 5,
            base = "1s",
            factor = 2,
            cap = "30s",
            on = ModelError::is_transient,
            async move { self.send_large(prompt).await }
        )
    }

    pub(super) fn expressed_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        retrying!(
            max = 5,
            base = "1s",
            factor = 2,
            cap = "30s",
            on = ModelError::is_transient,
            { self.answer(prompt) }
        )
    }
}
