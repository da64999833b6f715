//! Native async methods, in an impl and as a trait's default.

use std::cell::Cell;

use retry_runtime::retry;

trait Model {
    fn attempts(&self) -> &Cell<u32>;

    fn count(&self) -> u32 {
        self.attempts().set(self.attempts().get() + 1);
        self.attempts().get()
    }

    async fn complete(&self, prompt: &str) -> Result<String, u32>;

    #[retry(max = 3, backoff = "none", on = |_| true)]
    async fn embed(&self, prompt: &str) -> Result<String, u32> {
        self.complete(prompt).await
    }

    fn models(&self) -> impl Future<Output = Result<u32, u32>>;
}

#[derive(Default)]
struct Client(Cell<u32>);

impl Model for Client {
    fn attempts(&self) -> &Cell<u32> {
        &self.0
    }

    #[retry(max = 2, backoff = "none", on = |_| self.0.get() < 100)]
    async fn complete(&self, prompt: &str) -> Result<String, u32> {
        let attempt = self.count();
        if attempt == 99 {
            return Ok(prompt.to_owned());
        }
        Err(attempt)
    }

    #[retry(max = 2, backoff = "none", on = |_| true)]
    fn models(&self) -> impl Future<Output = Result<u32, u32>> {
        let attempt = self.count();
        async move { Err(attempt) }
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    assert_eq!(Client::default().complete("hello").await, Err(3));
    assert_eq!(Client::default().embed("hello").await, Err(12));
    assert_eq!(Client::default().models().await, Err(3));
}
