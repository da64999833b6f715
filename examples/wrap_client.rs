//! Wraps a client from another crate: `cargo run --example wrap_client`.
//!
//! The client's service sometimes returns an empty message. Only that error is retried, up to 3 times, after about 1, 2
//! and 4 s. The client's source is unchanged, and its methods keep their signatures. The clock is paused, so the
//! example doesn't really wait for those seconds.

use futures_util::{Stream, StreamExt};
use retry_observers::Stats;
use retry_runtime::{Budget, retry};
use tokio::time::Instant;
use vendor::{ModelClient as _, ModelError, Vendor};

/// A copy of the trait's declaration. The macro generates `Retrying<C>`, which implements the original trait.
#[retry(
    wrapper = Retrying,
    of = vendor::ModelClient,
    name = "model",
    max = 3,
    base = "1s",
    factor = 2,
    cap = "8s",
    jitter = 0.2,
    on = |error| *error == ModelError::NoMessage,
    budget = &BUDGET,
    observe = &STATS
)]
trait ModelClient {
    async fn generate(&self, prompt: &str) -> Result<String, ModelError>;

    /// Collects the items of an attempt before passing them on, so that callers don't get items of a failed attempt.
    #[retry(stream = "buffer")]
    fn stream(&self, prompt: &str) -> impl Stream<Item = Result<String, ModelError>>;
}

/// Counts all calls of the program, which share one budget for retries.
static STATS: Stats = Stats::new();
static BUDGET: Budget = Budget::standard();

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    tracing_subscriber::fmt().without_time().init();
    // The first responses of the service, in order: empty, empty, a message, …
    let client = Retrying::new(Vendor::new(&[
        "",
        "",
        "Hello!",
        "wrong key",
        "Hel",
        "",
        "Hel",
        "lo!",
    ]));

    let start = Instant::now();
    let message = client.generate("Say hello.").await;
    println!("recovered: {message:?} after about {:.0?}", start.elapsed());

    let refused = client.generate("Say hello.").await;
    println!("passed through at once: {refused:?}");

    let items: Vec<_> = client.stream("Say hello.").collect().await;
    println!("streamed: {items:?}");

    let once = client.inner().generate("Say hello.").await;
    println!("not retried, from the original client: {once:?}");
    println!("the debug output shows the wrapper: {client:?}");
    println!("{}", STATS.totals());
}

/// Stands in for another crate.
mod vendor {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use futures_util::{Stream, stream};

    #[derive(Debug, PartialEq, Eq)]
    pub(crate) enum ModelError {
        NoMessage,
        Unauthorized,
    }

    impl std::fmt::Display for ModelError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(match self {
                Self::NoMessage => "no message in response",
                Self::Unauthorized => "unauthorized",
            })
        }
    }

    pub(crate) trait ModelClient {
        async fn generate(&self, prompt: &str) -> Result<String, ModelError>;
        fn stream(&self, prompt: &str) -> impl Stream<Item = Result<String, ModelError>>;
    }

    #[derive(Debug)]
    pub(crate) struct Vendor {
        answers: Mutex<VecDeque<&'static str>>,
    }

    impl Vendor {
        pub(crate) fn new(answers: &[&'static str]) -> Self {
            let answers = Mutex::new(answers.iter().copied().collect());
            Self { answers }
        }

        fn answer(&self) -> Result<String, ModelError> {
            let mut answers = self.answers.lock().expect("no other thread panics");
            match answers.pop_front() {
                Some("wrong key") => Err(ModelError::Unauthorized),
                Some("") | None => Err(ModelError::NoMessage),
                Some(answer) => Ok(String::from(answer)),
            }
        }
    }

    impl ModelClient for Vendor {
        async fn generate(&self, _: &str) -> Result<String, ModelError> {
            self.answer()
        }

        fn stream(&self, _: &str) -> impl Stream<Item = Result<String, ModelError>> {
            // A message has two parts.
            stream::iter(0..2).map(|_| self.answer())
        }
    }

    use futures_util::StreamExt;
}
