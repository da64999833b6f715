//! Traits under `#[async_trait]`, and traits with `Send` futures.

use async_trait::async_trait;
use support::prelude::*;

use crate::decorators::{Busy, SharedFlaky};

#[retry(wrapper = Retrying, backoff = "none", on = |_| true)]
#[async_trait]
trait Model: Send + Sync {
    async fn complete(&self, prompt: String, parts: &[&str]) -> Result<u32, Busy>;
    async fn charge(&mut self, amount: u32) -> Result<u32, Busy>;
    async fn provided(&self) -> Result<u32, Busy> {
        self.complete(String::from("hello"), &[]).await
    }
    #[retry(skip)]
    async fn name(&self) -> String;
}

#[async_trait]
impl Model for SharedFlaky {
    async fn complete(&self, prompt: String, parts: &[&str]) -> Result<u32, Busy> {
        assert_eq!((prompt.as_str(), parts.len()), ("hello", 0));
        self.answer()
    }

    async fn charge(&mut self, amount: u32) -> Result<u32, Busy> {
        self.answer().map(|answer| answer + amount)
    }

    async fn name(&self) -> String {
        String::from("flaky")
    }
}

#[tokio::test]
async fn every_method_is_retried() {
    let model = Retrying::new(SharedFlaky::default());
    let completed = model.complete(String::from("hello"), &[]);
    assert_eq!(is_send(completed).await, Ok(3));
    let mut model = Retrying::new(SharedFlaky::default());
    assert_eq!(model.name().await, "flaky");
    assert_eq!(model.charge(10).await, Ok(13));
    let model = Retrying::new(SharedFlaky::default());
    assert_eq!(model.provided().await, Ok(3));
}

#[retry(wrapper = RetryingSend, backoff = "none", on = |_| true)]
trait SendModel {
    fn complete(&self, prompt: String) -> impl Future<Output = Result<u32, Busy>> + Send;
    fn charge<'a>(
        &'a mut self,
        amount: &'a u32,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>>;
}

impl SendModel for SharedFlaky {
    async fn complete(&self, prompt: String) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }

    fn charge<'a>(
        &'a mut self,
        amount: &'a u32,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
        Box::pin(async move { self.answer().map(|answer| answer + amount) })
    }
}

#[tokio::test]
async fn send_futures_stay_send_and_local_ones_local() {
    let model = RetryingSend::new(SharedFlaky::default());
    assert_eq!(is_send(model.complete(String::from("hello"))).await, Ok(3));
    let mut model = RetryingSend::new(SharedFlaky::default());
    assert_eq!(is_send(model.charge(&10)).await, Ok(13));
    let local = RetryingLocal::new(Rc::new(SharedFlaky::default()));
    assert_eq!(local.complete("hello".into()).await, Ok(3));
}

#[retry(wrapper = RetryingLocal, backoff = "none", on = |_| true)]
#[async_trait(?Send)]
trait LocalModel {
    async fn complete(&self, prompt: Rc<str>) -> Result<u32, Busy>;
}

#[async_trait(?Send)]
impl LocalModel for Rc<SharedFlaky> {
    async fn complete(&self, prompt: Rc<str>) -> Result<u32, Busy> {
        assert_eq!(&*prompt, "hello");
        self.answer()
    }
}
