//! A call that ends at once while the server is down.

impl Client {
    #[retry(max = 5, breaker = &self.breaker)]
    async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        self.post(prompt).await
    }
}
