//! Functions that return a future: `impl Future`, `Pin<Box<dyn Future>>`, and the aliases of `futures`.

use futures::FutureExt;
use futures::future::{BoxFuture, LocalBoxFuture};
use support::prelude::*;

use crate::shapes::{Busy, Flaky, check};

struct Client<'a>(&'a Flaky);

impl Client<'_> {
    #[retry(policy = self.0.policy, on = |_| true)]
    fn lone_block<'a>(
        &'a self,
        prompt: String,
    ) -> impl Future<Output = Result<u32, Busy>> + Send + 'a {
        async move { Ok(self.0.answer_to(&prompt)?) }
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn after_statements(&self, prompt: &str) -> impl Future<Output = Result<u32, Busy>> + Send {
        let prompt = prompt.to_owned();
        let client = self.0;
        if prompt.is_empty() {
            return respond(client, String::from("empty"));
        }
        respond(client, prompt)
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn boxed_block<'a>(
        &'a self,
        prompt: String,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
        Box::pin(async move { self.0.answer_to(&prompt) })
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn alias(&self) -> BoxFuture<'_, Result<u32, Busy>> {
        async move { self.0.answer() }.boxed()
    }

    /// It isn't `Send`.
    #[retry(policy = self.0.policy, on = |_| true)]
    fn local_alias(&self, prompt: Rc<str>) -> LocalBoxFuture<'_, Result<u32, Busy>> {
        ::std::boxed::Box::pin(async move { self.0.answer_to(&prompt) })
    }

    #[retry(policy = self.0.policy, attempt = attempt, on = |_| true)]
    fn attempt_within<'a>(
        &'a self,
        prompt: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
        let prompt = prompt.to_owned();
        if prompt.is_empty() {
            return Box::pin(async { Err(Busy(0)) });
        }
        Box::pin(async move {
            assert_eq!(attempt.number(), self.0.attempts() + 1);
            self.0.answer_to(&prompt)
        })
    }

    #[retry(policy = self.0.policy, attempt = attempt, on = |_| true)]
    fn attempt_within_alias<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<u32, Busy>> {
        let length = prompt.len();
        async move {
            assert_eq!((length, attempt.number()), (5, self.0.attempts() + 1));
            self.0.answer()
        }
        .boxed()
    }

    #[retry(policy = flaky.policy, attempt = attempt, on = |_| true)]
    fn attempt_within_static(
        flaky: &'static Flaky,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send>> {
        let before = flaky.attempts();
        Box::pin(async move {
            assert_eq!(attempt.number(), before + 1);
            flaky.answer()
        })
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn mutable(&mut self) -> impl Future<Output = Result<u32, Busy>> {
        async move {
            let client = &mut self.0;
            client.answer()
        }
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn lent(&mut self) -> impl Future<Output = Result<u32, Busy>> + Send + '_ {
        changing(&mut self.0)
    }

    #[retry(policy = self.0.policy, on = |_| true)]
    fn lent_in_a_box(&mut self) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + '_>> {
        Box::pin(changing(&mut self.0))
    }
}

async fn changing(flaky: &mut &Flaky) -> Result<u32, Busy> {
    flaky.answer()
}

#[expect(clippy::manual_async_fn, reason = "the shape under test")]
fn respond(flaky: &Flaky, prompt: String) -> impl Future<Output = Result<u32, Busy>> + Send {
    async move { flaky.answer_to(&prompt) }
}

#[retry(policy = flaky.policy, on = |_| true)]
#[allow(clippy::manual_async_fn)]
fn nothing_is_sent_before_the_first_poll(flaky: &Flaky) -> impl Future<Output = Result<u32, Busy>> {
    let early = flaky.answer();
    async move { early }
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_future() {
    check!(|flaky| Client(flaky).lone_block(String::from("hello")).await);
    check!(|flaky| Client(flaky).after_statements("hello").await);
    check!(|flaky| Client(flaky).mutable().await);
    check!(|flaky| Client(flaky).lent().await);
    check!(|flaky| Client(flaky).lent_in_a_box().await);
    check!(|flaky| Client(flaky).boxed_block(String::from("hello")).await);
    check!(|flaky| Client(flaky).alias().await);
    check!(|flaky| Client(flaky).local_alias("hello".into()).await);
    check!(|flaky| {
        let future = nothing_is_sent_before_the_first_poll(flaky);
        assert_eq!(flaky.attempts(), 0);
        future.await
    });
    check!(|flaky| Client(flaky).attempt_within("hello").await);
    check!(|flaky| Client(flaky).attempt_within_alias("hello").await);
    let flaky: &'static Flaky = Box::leak(Box::new(Flaky::new(2, Jitter::None)));
    assert_eq!(Client::attempt_within_static(flaky).await, Ok(3));
}
