//! Calls with `policy.call`.

use retry_runtime::{Backoff, Policy};

use super::{BASE, CAP, MAX, Model, ModelError, Page};

const POLICY: Policy = Policy::new().max(MAX).base(BASE).cap(CAP);
const AT_ONCE: Policy = POLICY.backoff(Backoff::None);

impl retry_runtime::Classify for ModelError {
    fn classify(&self) -> retry_runtime::Verdict {
        self.is_transient().into()
    }
}

impl Model {
    pub(super) async fn chained(&self, prompt: &str) -> Result<u64, ModelError> {
        POLICY.call(|| self.send(prompt)).await
    }

    pub(super) async fn chained_large(&self, prompt: &str) -> Result<Page, ModelError> {
        POLICY.call(|| self.send_large(prompt)).await
    }

    pub(super) fn chained_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        POLICY.call_blocking(|| self.answer(prompt))
    }

    pub(super) async fn chained_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        AT_ONCE.call(|| self.send(prompt)).await
    }

    pub(super) async fn chained_with_delay(&self, prompt: &str) -> Result<u64, ModelError> {
        POLICY.call(|| self.send(prompt)).await
    }

    pub(super) async fn chained_keeping<const N: usize>(
        &self,
        prompt: &str,
    ) -> Result<u64, ModelError> {
        POLICY.call(|| self.keeping::<N>(prompt)).await
    }
}
