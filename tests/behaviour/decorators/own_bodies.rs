//! `#[retry(body)]`: a method with its own body in the copy of a trait.

use async_trait::async_trait;
use support::prelude::*;

use crate::decorators::{Busy, Flaky, SharedFlaky};

/// Stands in for another crate.
mod other {
    use support::scripted;

    use super::{Busy, Flaky};

    /// An argument that is not `Clone`.
    #[derive(Debug)]
    pub(super) struct Params(pub(super) u32);

    pub(super) trait Client {
        async fn request(&self, method: &str, params: Params) -> Result<u32, Busy>;
        async fn all(&mut self, requests: &mut [u32]) -> Result<u32, Busy>;
        fn shared(self: std::rc::Rc<Self>) -> Result<u32, Busy>;
        fn batch(&self, of: &[&Self]) -> Result<u32, Busy>
        where
            Self: Sized;
        fn plain(&self) -> Result<u32, Busy>;
    }

    pub(super) struct Remote(pub(super) Flaky);

    impl Remote {
        fn answer(&self, answer: u32) -> Result<u32, Busy> {
            self.0.answer().map(|_| answer)
        }
    }

    impl Client for Remote {
        scripted! {
            async fn request(&self, method: &str, params: Params) -> Result<u32, Busy> = {
                assert_eq!(method, "sum");
                self.answer(params.0)
            };
            async fn all(&mut self, requests: &mut [u32]) -> Result<u32, Busy> = {
                requests[0] += 1;
                self.answer(requests[0])
            };
            fn shared(self: std::rc::Rc<Self>) -> Result<u32, Busy> = self.answer(5);
            fn batch(&self, of: &[&Self]) -> Result<u32, Busy> = self.answer(u32::try_from(of.len()).unwrap());
            fn plain(&self) -> Result<u32, Busy> = self.answer(6);
        }
    }
}

use other::{Client as _, Params, Remote};

#[retry(wrapper = Retrying, of = other::Client, max = 3, base = "1s", jitter = "none", on = |_| true)]
trait Client {
    #[retry(body)]
    async fn request(&self, method: &str, params: Params) -> Result<u32, Busy> {
        self.inner().request(method, Params(params.0)).await
    }

    /// Each attempt gets the requests as they came.
    #[retry(body, max = 2, attempt = attempt)]
    async fn all(&mut self, requests: &mut [u32]) -> Result<u32, Busy> {
        let mut requests = requests.to_vec();
        let answer = self.inner_mut().all(&mut requests).await?;
        Ok(100 * attempt.number() + answer)
    }

    #[retry(body)]
    fn shared(self: Rc<Self>) -> Result<u32, Busy> {
        self.inner().plain()
    }

    #[retry(body)]
    fn batch(&self, of: &[&Self]) -> Result<u32, Busy>
    where
        Self: Sized,
    {
        let clients: Vec<_> = of.iter().map(|one| one.inner()).collect();
        self.inner().batch(&clients)
    }

    fn plain(&self) -> Result<u32, Busy>;
}

fn client() -> Retrying<Remote> {
    Retrying::new(Remote(Flaky::new(2)))
}

#[tokio::test(start_paused = true)]
async fn the_body_is_retried_by_the_traits_policy_under_the_clients_name() {
    let recording = testing::record();
    let client = client();
    assert_eq!(client.request("sum", Params(7)).await, Ok(7));
    assert_eq!(client.inner().0.attempts.get(), 3);
    assert_eq!(recording.delays(), [1, 2].map(secs));
    let lines = recording.lines();
    assert!(lines[0].contains("Remote::request"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_retried_default_body_has_its_own_settings_and_attempt() {
    let mut client = client();
    assert_eq!(client.all(&mut [1]).await, Ok(302));
    client.inner_mut().0.attempts.set(0);
    let mut client = Retrying::with_policy(client.into_inner(), Policy::none().max(1));
    // Its own `max`.
    assert_eq!(client.all(&mut [1]).await, Ok(302));
    client.inner_mut().0.attempts.set(0);
    assert_eq!(client.request("sum", Params(7)).await, Err(Busy(2)));
}

#[test]
fn default_bodies_run_for_methods_that_cannot_be_delegated() {
    let _skipped = testing::skip_sleeps();
    assert_eq!(Rc::new(client()).shared(), Ok(6));
    let (one, other) = (client(), client());
    assert_eq!(one.batch(&[&one, &other, &one]), Ok(3));
    let attempts = [one, other].map(|client| client.inner().0.attempts.get());
    assert_eq!(attempts, [3, 0]);
}

#[async_trait]
trait Shared: Send + Sync {
    async fn send(&self, message: Box<dyn Fn() -> u32 + Send + Sync>) -> Result<u32, Busy>;
}

mod copy {
    use async_trait::async_trait;
    use retry_runtime::retry;

    use super::{Busy, Shared as Original};

    #[retry(wrapper = RetryShared, of = Original, max = 3, backoff = "none", on = |_| true)]
    #[async_trait]
    pub(super) trait Shared {
        #[retry(body)]
        async fn send(&self, message: Box<dyn Fn() -> u32 + Send + Sync>) -> Result<u32, Busy> {
            let value = message();
            self.inner().send(Box::new(move || value)).await
        }
    }
}

#[async_trait]
impl Shared for SharedFlaky {
    async fn send(&self, message: Box<dyn Fn() -> u32 + Send + Sync>) -> Result<u32, Busy> {
        self.answer().map(|_| message())
    }
}

#[tokio::test]
async fn under_async_trait() {
    let sender: Arc<dyn Shared> = Arc::new(copy::RetryShared::new(SharedFlaky::default()));
    assert_eq!(sender.send(Box::new(|| 4)).await, Ok(4));
}

/// `Self` in `use<…>` doesn't mean that the decorator and its client must have the same type.
#[retry(wrapper = RetryCaptured, forward = [Box], max = 3, backoff = "none", on = |_| true)]
trait Captured<T: Clone> {
    fn lent(&self, _given: T) -> impl Future<Output = Result<u32, Busy>> + use<'_, Self, T> {
        async { Err(Busy(99)) }
    }

    fn owned(&self) -> impl Future<Output = Result<u32, Busy>> + use<Self, T>;
}

impl Captured<u32> for Flaky {
    async fn lent(&self, given: u32) -> Result<u32, Busy> {
        self.answer().map(|attempt| attempt + given)
    }

    fn owned(&self) -> impl Future<Output = Result<u32, Busy>> + use<> {
        ready(self.answer())
    }
}

#[tokio::test(start_paused = true)]
async fn a_future_may_name_its_captures() {
    let client = Box::new(RetryCaptured::new(Flaky::new(2)));
    assert_eq!(client.lent(10).await, Ok(13));
    let failing = RetryCaptured::new(Flaky::new(9)).owned();
    assert_eq!(failing.await, Err(Busy(4)));
}
