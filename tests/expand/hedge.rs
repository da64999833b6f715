#[retry(hedge = "200ms", budget)]
async fn complete(&self, prompt: &str) -> Result<Answer, ModelError> {
    self.send(prompt).await
}
