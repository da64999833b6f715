//! Calls with the attribute.

use retry_runtime::retry;

use super::{Model, ModelError, Page};

impl Model {
    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    pub(super) async fn retried(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    pub(super) async fn retried_large(&self, prompt: &str) -> Result<Page, ModelError> {
        self.send_large(prompt).await
    }

    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    pub(super) fn retried_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        self.answer(prompt)
    }

    #[retry(max = 5, base = "1s", factor = 2, cap = "30s", on = ModelError::is_transient)]
    pub(super) async fn retried_with_delay(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    #[retry(max = 5, backoff = "none", on = ModelError::is_transient)]
    pub(super) async fn retried_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }
}
