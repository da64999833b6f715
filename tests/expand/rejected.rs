//! A call that is retried once the breaker is half-open, and can be cancelled while it waits.

impl Client {
    #[retry(
        max = 5,
        rejected(max = 20, backoff = "fixed", base = "100ms"),
        deadline = "1m",
        budget = &self.budget,
        breaker = &self.breaker,
        cancel = self.stop()
    )]
    async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        self.post(prompt).await
    }
}
