//! The common case: a client's method, with literal settings.

impl Client {
    #[retry(max = 5, backoff = "exp", on = is_retryable)]
    pub async fn complete(&self, prompt: &str) -> Result<Completion, ModelError> {
        let response = self.http.post(prompt).await?;
        response.json().await
    }
}
