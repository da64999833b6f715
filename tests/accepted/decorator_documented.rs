//! Public traits, under every lint that could flag generated code.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    future_incompatible,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    single_use_lifetimes,
    unreachable_pub,
    unsafe_code,
    unused,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]

pub mod model {
    //! A model.

    use async_trait::async_trait;
    use retry_runtime::retry;

    /// A client of a model.
    #[retry(wrapper = Retrying, max = 2, backoff = "none", on = |_| true)]
    pub trait Model {
        /// The answer.
        type Answer;

        /// The number of models.
        const COUNT: u32;

        /// Completes a prompt.
        fn complete(&self, prompt: &str) -> impl Future<Output = Result<Self::Answer, u32>> + Send;

        /// Counts the tokens.
        ///
        /// # Errors
        ///
        /// If the model is overloaded.
        fn count(&self, prompt: String) -> Result<u32, u32>;

        /// Completes a prompt in the old way.
        ///
        /// # Errors
        ///
        /// If the model is overloaded.
        #[deprecated = "use complete"]
        fn old(&self) -> Result<u32, u32>;

        /// The name of the model.
        #[must_use]
        fn name(&self) -> String {
            String::from("model")
        }
    }

    /// The trait as a trait object.
    #[retry(wrapper = RetryingObject, max = 2, backoff = "none", on = |_| true)]
    #[async_trait]
    pub trait Object: Send + Sync {
        /// Completes a prompt.
        async fn complete<'a>(&'a self, prompt: &'a str) -> Result<&'a str, u32>;
    }
}

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;

use model::{Model, Object, Retrying, RetryingObject};

/// Fails twice.
#[derive(Debug, Default)]
pub struct Client(AtomicU32);

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

impl Model for Client {
    type Answer = String;

    const COUNT: u32 = 7;

    async fn complete(&self, prompt: &str) -> Result<String, u32> {
        self.answer().map(|_| prompt.to_owned())
    }

    fn count(&self, _: String) -> Result<u32, u32> {
        self.answer()
    }

    fn old(&self) -> Result<u32, u32> {
        self.answer()
    }

    fn name(&self) -> String {
        String::from("client")
    }
}

#[async_trait]
impl Object for Client {
    async fn complete<'a>(&'a self, prompt: &'a str) -> Result<&'a str, u32> {
        self.answer().map(|_| prompt)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let model = Retrying::new(Client::default());
    let expected = Ok("hello");
    assert_eq!(Model::complete(&model, "hello").await.as_deref(), expected);
    assert_eq!(model.count(String::new()), Ok(6));
    assert_eq!(model.name(), "client");
    assert_eq!(<Retrying<Client> as Model>::COUNT, 7);
    assert_eq!(model.into_inner().0.into_inner(), 6);
    let object: Box<dyn Object> = Box::new(RetryingObject::new(Client::default()));
    assert_eq!(object.complete("hello").await, Ok("hello"));
}
