//! Methods of traits: native, provided, and under `#[async_trait]`.

use std::fmt::Display;

use async_trait::async_trait;
use support::prelude::*;

use crate::shapes::{Busy, Flaky, check};

#[allow(async_fn_in_trait)]
trait Native {
    type Prompt;

    async fn required(&self, prompt: Self::Prompt) -> Result<u32, Busy>;

    fn flaky(&self) -> &Flaky;

    #[retry(policy = self.flaky().policy, on = |_| true)]
    async fn provided(&mut self) -> Result<u32, Busy> {
        self.flaky().answer()
    }

    #[retry(policy = self.flaky().policy, on = |_| true)]
    fn provided_future(&self) -> impl Future<Output = Result<u32, Busy>> + Send
    where
        Self: Sync,
    {
        async { self.flaky().answer() }
    }
}

struct Client<'a>(&'a Flaky);

impl Native for Client<'_> {
    type Prompt = String;

    scripted! {
        #[retry(policy = self.0.policy, on = |_| true)]
        async fn required(&self, prompt: Self::Prompt) -> Result<u32, Busy> = self.0.answer_to(&prompt);
        fn flaky(&self) -> &Flaky = self.0;
    }
}

#[async_trait]
trait Model: Sync {
    async fn by_ref(&self, prompt: &str) -> Result<u32, Busy>;
    async fn by_mut(&mut self, prompt: String, pair: (u8, u8)) -> Result<u32, Busy>;
    async fn generic<T: Display + Send + Sync>(&self, mut text: T, _: u8) -> Result<u32, Busy>
    where
        T: Clone,
        Self: Sized;
    async fn instrumented(&self, prompt: String) -> Result<u32, Busy>;
    async fn instrumented_below(&self, prompt: String) -> Result<u32, Busy>;

    fn flaky(&self) -> &Flaky;

    #[retry(policy = self.flaky().policy, on = |_| true)]
    async fn provided(&self, prompt: String) -> Result<u32, Busy> {
        self.flaky().answer_to(&prompt)
    }
}

struct Boxed<'a> {
    flaky: &'a Flaky,
    calls: u32,
}

#[async_trait]
impl Model for Boxed<'_> {
    #[retry(policy = self.flaky.policy, on = |_| true)]
    async fn by_ref(&self, prompt: &str) -> Result<u32, Busy> {
        Ok(self.flaky.answer_to(prompt)?)
    }

    #[retry(policy = self.flaky.policy, observe = |_| self.calls += 100, on = |_| true)]
    async fn by_mut(&mut self, prompt: String, (one, two): (u8, u8)) -> Result<u32, Busy> {
        assert_eq!((prompt.as_str(), one, two), ("hello", 1, 2));
        self.calls += 1;
        self.flaky.answer()
    }

    #[retry(policy = self.flaky.policy, on = |_| true)]
    async fn generic<T: Display + Send + Sync>(&self, mut text: T, _: u8) -> Result<u32, Busy>
    where
        T: Clone,
        Self: Sized,
    {
        text = text.clone();
        assert_eq!(text.to_string(), "hello");
        self.flaky.answer()
    }

    #[tracing::instrument(skip_all, err)]
    #[retry(policy = self.flaky.policy, on = |_| true)]
    async fn instrumented(&self, prompt: String) -> Result<u32, Busy> {
        self.flaky.answer_to(&prompt)
    }

    #[retry(policy = self.flaky.policy, on = |_| true)]
    #[tracing::instrument(skip_all, ret)]
    async fn instrumented_below(&self, prompt: String) -> Result<u32, Busy> {
        self.flaky.answer_to(&prompt)
    }

    fn flaky(&self) -> &Flaky {
        self.flaky
    }
}

fn boxed(flaky: &Flaky) -> Boxed<'_> {
    Boxed { flaky, calls: 0 }
}

#[async_trait]
trait Named {
    async fn named(&self) -> Result<u32, Busy>;
}

#[async_trait]
impl Named for u32 {
    #[retry(max = 0, name = format!("model {self} {self:>3} {{self}}"), on = |_| true)]
    async fn named(&self) -> Result<u32, Busy> {
        Err(Busy(*self))
    }
}

#[tokio::test]
async fn a_format_string_in_a_key_captures_self() {
    let recording = testing::record();
    assert!(7.named().await.is_err());
    let lines = recording.lines();
    let start = "gave up model 7   7 {self} attempt=1";
    assert!(lines[0].starts_with(start), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn every_method_of_a_trait() {
    check!(|flaky| Client(flaky).required(String::from("hello")).await);
    check!(|flaky| Client(flaky).provided().await);
    check!(|flaky| Client(flaky).provided_future().await);
    check!(|flaky| {
        let model: Box<dyn Model + '_> = Box::new(boxed(flaky));
        model.by_ref("hello").await
    });
    check!(|flaky| {
        let mut model = boxed(flaky);
        let outcome = model.by_mut(String::from("hello"), (1, 2)).await;
        assert_eq!(model.calls % 100, flaky.attempts());
        outcome
    });
    check!(|flaky| boxed(flaky).generic("hello", 1).await);
    check!(|flaky| boxed(flaky).provided(String::from("hello")).await);
    check!(|flaky| boxed(flaky).instrumented(String::from("hello")).await);
    check!(|flaky| boxed(flaky).instrumented_below(String::from("hello")).await);
}
