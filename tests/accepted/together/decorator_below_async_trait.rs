//! The two attributes in either order. Below `#[async_trait]`, `#[retry]` gets the trait that the other one generated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use retry_runtime::retry;

#[async_trait]
#[retry(wrapper = Retrying, max = 2, backoff = "none", on = |_| true)]
trait Model: Send + Sync {
    async fn complete(&self, prompt: String, parts: &[&str]) -> Result<u32, u32>;

    async fn charge(&mut self, amount: u32) -> Result<u32, u32>;

    async fn provided(&self) -> Result<u32, u32> {
        self.complete(String::from("hello"), &[]).await
    }
}

#[derive(Default)]
struct Client(AtomicU32);

impl Client {
    fn answer(&self) -> Result<u32, u32> {
        let attempt = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if attempt % 3 == 0 {
            Ok(attempt)
        } else {
            Err(attempt)
        }
    }
}

#[async_trait]
impl Model for Client {
    async fn complete(&self, prompt: String, parts: &[&str]) -> Result<u32, u32> {
        assert_eq!((prompt.as_str(), parts.len()), ("hello", 0));
        self.answer()
    }

    async fn charge(&mut self, amount: u32) -> Result<u32, u32> {
        self.answer().map(|answer| answer + amount)
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let model: Arc<dyn Model> = Arc::new(Retrying::new(Client::default()));
    assert_eq!(model.complete(String::from("hello"), &[]).await, Ok(3));
    assert_eq!(model.provided().await, Ok(6));
    assert_eq!(Retrying::new(Client::default()).charge(10).await, Ok(13));
}
