//! Traits of other crates, from a local copy of their declaration.

use async_trait::async_trait;
use support::prelude::*;

use crate::decorators::{Busy, Flaky, SharedFlaky};

type Later = Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send>>;

/// Stands in for another crate.
mod other {
    use super::{Busy, Later};

    pub(crate) trait Model {
        type Answer;
        async fn complete(&self, prompt: &str) -> Result<Self::Answer, Busy>;
        fn name(&self) -> String {
            String::from("unnamed")
        }
        fn pair(&self) -> Option<(Self, Self)>
        where
            Self: Clone,
        {
            None
        }
    }

    #[async_trait::async_trait]
    pub(crate) trait Llm: Send + Sync {
        async fn complete(&self, prompt: String) -> Result<u32, Busy>;
        fn name(&self) -> String;
    }

    pub(crate) trait Store {
        type Item;
        fn put(&mut self, item: u32) -> Result<Self::Item, Busy>;
    }

    pub(crate) trait Spawned: Send + Sync {
        fn later(&self) -> Later;
    }
}

#[retry(wrapper = Retrying, of = other::Model, backoff = "none", on = |_| true)]
trait Model {
    type Answer;
    async fn complete(&self, prompt: &str) -> Result<Self::Answer, Busy>;
    fn name(&self) -> String;
    fn pair(&self) -> Option<(Self, Self)>
    where
        Self: Clone,
    {
        Some((self.clone(), self.clone()))
    }
}

impl other::Model for Flaky {
    type Answer = u32;

    async fn complete(&self, prompt: &str) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }
}

#[tokio::test]
async fn the_foreign_trait_is_implemented_and_no_other_declared() {
    use other::Model;

    let model = Retrying::new(Flaky::new(2));
    assert_eq!(model.name(), "unnamed");
    // A body in the copy runs where the client's own method can't.
    let (first, second) = model.pair().unwrap();
    assert_eq!(first.complete("hello").await, Ok(3));
    assert_eq!(second.inner().attempts.get(), 0);
}

// Only the other crate could implement its trait for pointers, so the decorator wraps the pointers themselves.

#[retry(wrapper = RetryLlm, of = other::Llm, forward = [Box, Arc], max = 5, backoff = "none", on = |_| true)]
#[async_trait]
trait Llm: Send + Sync {
    async fn complete(&self, prompt: String) -> Result<u32, Busy>;
    fn name(&self) -> String;
}

#[async_trait]
impl other::Llm for SharedFlaky {
    async fn complete(&self, prompt: String) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }

    fn name(&self) -> String {
        String::from("flaky")
    }
}

#[tokio::test]
async fn boxed_and_shared_clients_of_a_foreign_trait_are_retried() {
    use other::Llm;

    let recording = testing::record();
    let boxed: Box<dyn Llm> = Box::new(SharedFlaky::default());
    let model: Box<dyn Llm> = Box::new(RetryLlm::new(boxed));
    assert_eq!(model.complete(String::from("hello")).await, Ok(3));
    assert_eq!(model.name(), "flaky");

    let shared = RetryLlm::with_policy(Arc::new(SharedFlaky::default()), Policy::new().max(0));
    shared.complete(String::from("hello")).await.unwrap_err();
    let lines = recording.lines();
    for (line, start) in rows! {
        0, "retrying dyn Llm::complete";
        3, "gave up SharedFlaky::complete";
    } {
        assert!(lines[line].starts_with(start), "{lines:?}");
    }
}

#[retry(wrapper = RetryStore, of = other::Store, forward = [Box], max = 5, backoff = "none", on = |_| true)]
trait Store {
    type Item;
    fn put(&mut self, item: u32) -> Result<Self::Item, Busy>;
}

#[retry(wrapper = RetrySpawned, of = other::Spawned, forward = [Arc], max = 5, backoff = "none", on = |_| true)]
trait Spawned: Send + Sync {
    fn later(&self) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send>>;
}

impl other::Store for SharedFlaky {
    type Item = u32;

    fn put(&mut self, item: u32) -> Result<u32, Busy> {
        self.answer().map(|attempt| attempt * item)
    }
}

impl other::Spawned for SharedFlaky {
    fn later(&self) -> Later {
        Box::pin(ready(self.answer()))
    }
}

/// The future keeps a clone of the pointer.
#[tokio::test]
async fn mutable_receivers_and_static_futures_work_through_pointers() {
    use other::{Spawned, Store};

    let boxed: Box<dyn Store<Item = u32>> = Box::new(SharedFlaky::default());
    assert_eq!(RetryStore::new(boxed).put(10), Ok(30));
    let shared: Arc<dyn Spawned> = Arc::new(SharedFlaky::default());
    let later = RetrySpawned::new(shared).later();
    assert_eq!(tokio::spawn(later).await.unwrap(), Ok(3));
}
