//! A function that returns a future: the whole body is one attempt.

#[retry(policy = self.policy)]
fn complete<'a>(&'a self, prompt: &'a str) -> impl Future<Output = Result<impl Answer, ModelError>> + Send + 'a {
    let request = self.request(prompt);
    self.send(request)
}
