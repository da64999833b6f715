//! The key `forward`: the trait for pointers.

use async_trait::async_trait;
use support::prelude::*;

use crate::decorators::{Busy, SharedFlaky};

#[retry(wrapper = Retrying, forward = [Box, Arc], max = 5, backoff = "none", on = |_| true)]
#[async_trait]
trait Model: Send + Sync {
    async fn complete(&self, prompt: String, _: &[&str]) -> Result<u32, Busy>;

    /// The default body returns a different value than the client's own method.
    async fn provided(&self) -> Result<u32, Busy> {
        Ok(0)
    }

    fn name(&self) -> String;

    fn describe(&self) -> String
    where
        Self: Sized,
    {
        format!("the {}", self.name())
    }
}

#[async_trait]
impl Model for SharedFlaky {
    async fn complete(&self, prompt: String, _: &[&str]) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.answer()
    }

    async fn provided(&self) -> Result<u32, Busy> {
        self.answer()
    }

    fn name(&self) -> String {
        String::from("flaky")
    }
}

#[tokio::test]
async fn boxed_and_shared_clients_are_retried_and_named() {
    let recording = testing::record();
    let boxed: Box<dyn Model> = Box::new(SharedFlaky::default());
    let model = Retrying::new(boxed);
    assert_eq!(model.complete(String::from("hello"), &[]).await, Ok(3));
    assert_eq!(model.name(), "flaky");
    assert_eq!(model.describe(), "the flaky");
    assert_eq!(model.inner().describe(), "the flaky");

    let shared: Arc<dyn Model> = Arc::new(SharedFlaky::default());
    let model: Arc<dyn Model> = Arc::new(Retrying::new(shared));
    assert_eq!(model.provided().await, Ok(3));

    // Wrapped before it is boxed, a client is called by its own type.
    let model: Box<dyn Model> = Box::new(Retrying::new(SharedFlaky::default()));
    assert_eq!(model.complete(String::from("hello"), &[]).await, Ok(3));

    let lines = recording.lines();
    for (line, name) in rows! {
        0, "Box<dyn Model>::complete";
        3, "Arc<dyn Model>::provided";
        6, " SharedFlaky::complete";
    } {
        assert!(lines[line].contains(name), "{lines:?}");
    }
}

#[retry(wrapper = RetryStore, forward = [Box, std::rc::Rc], max = 5, backoff = "none", on = |_| true)]
trait Store<K: Clone> {
    type Item;
    const LIMIT: u32;

    fn get(&self, key: &K) -> Result<Self::Item, Busy>;
    async fn fetch<T: Default>(&self, key: K) -> Result<T, Busy>;
    fn later(&self) -> impl Future<Output = Result<Self::Item, Busy>>;
    fn limit() -> Result<u32, Busy>;
    #[retry(skip)]
    fn close(self) -> Result<(), Busy>
    where
        Self: Sized,
    {
        Ok(())
    }
}

impl Store<u8> for SharedFlaky {
    type Item = u32;
    const LIMIT: u32 = 9;

    async fn fetch<T: Default>(&self, _: u8) -> Result<T, Busy> {
        self.answer().map(|_| T::default())
    }

    scripted! {
        fn get(&self, _: &u8) -> Result<u32, Busy> = self.answer();
        fn later(&self) -> impl Future<Output = Result<u32, Busy>> = ready(self.answer());
        fn limit() -> Result<u32, Busy> = Ok(7);
    }
}

#[tokio::test]
async fn generic_traits_and_methods() {
    let store = RetryStore::new(Box::new(SharedFlaky::default()));
    assert_eq!(store.get(&1), Ok(3));
    store.inner().0.store(0, Ordering::Relaxed);
    assert_eq!(store.fetch::<String>(1).await, Ok(String::new()));
    store.inner().0.store(0, Ordering::Relaxed);
    assert_eq!(store.later().await, Ok(3));
    assert_eq!(<RetryStore<Box<SharedFlaky>> as Store<u8>>::limit(), Ok(7));
    assert_eq!(<Rc<SharedFlaky> as Store<u8>>::LIMIT, 9);
    // The default body: a box can't give away what may have no size.
    assert_eq!(store.close(), Ok(()));
    // Each of a decorator around a pointer around a client.
    let store = Rc::new(RetryStore::new(SharedFlaky::default()));
    assert_eq!(RetryStore::new(store).get(&1), Ok(3));
}
