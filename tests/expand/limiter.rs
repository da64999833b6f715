//! A call whose attempts wait for their turn, and that ends at once while the server is down.

impl Client {
    #[retry(max = 5, limiter = self.limiter.cost(prompt.tokens()), breaker = &self.breaker)]
    async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError> {
        self.post(prompt).await
    }
}
