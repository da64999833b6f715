//! A model client that survives a busy API: `cargo run --example quickstart`.
//!
//! The simulated API at the end returns 503, then 429 with `Retry-After: 1`, then doesn't respond, then succeeds; a
//! wrong key gets 401. The API is part of this program, so the example doesn't need a network or an HTTP client.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderMap, Response, StatusCode};
use retry_runtime::{Classify, TimedOut, retry};

struct Model {
    api: BusyApi,
    key: &'static str,
}

impl Model {
    /// Retries up to 5 times, after random pauses of up to 0.2 s, 0.4 s, 0.8 s, …, or after the wait that the API asks
    /// for.
    #[retry(name = "model.complete", max = 5, base = "200ms", timeout = "500ms")]
    async fn complete(&self, prompt: &str) -> Result<String, ModelError> {
        let (answer, text) = self.api.post(self.key, prompt).await.into_parts();
        if !answer.status.is_success() {
            return Err(ModelError::Refused((answer.status, answer.headers)));
        }
        Ok(text)
    }
}

/// Each variant is marked with how to handle it.
#[derive(Debug, thiserror::Error, Classify)]
enum ModelError {
    /// Classified by the inner error: statuses such as 429 and 503 are retried, after the wait in the headers.
    #[error("{}", .0.0)]
    #[classify(transparent)]
    Refused((StatusCode, HeaderMap)),
    #[error(transparent)]
    #[classify(timeout)]
    NoAnswer(#[from] TimedOut),
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tracing_subscriber::fmt().init(); // Shows the retries.
    for key in ["right", "wrong"] {
        let api = BusyApi::default();
        let model = Model { api, key };
        let started = Instant::now();
        let outcome = model.complete("Say hello.").await;
        let outcome = outcome.unwrap_or_else(|error| error.to_string());
        let (requests, time) = (&model.api.requests, started.elapsed());
        println!("{key} key: {outcome} (requests: {requests:?}, after {time:.1?})");
    }
    println!("{WHAT_YOU_SAW}");
}

const WHAT_YOU_SAW: &str = "
What you saw: two calls of one function, `complete` in examples/quickstart.rs.
- The first met a busy API. A 503 and a timeout were retried after random pauses, a 429 after
  the 1 s that its `Retry-After` asks for. The caller got the answer, and no error.
- The second had a wrong key. A retry can't fix that, so it failed at once.
All of this comes from one line, `#[retry(…)]`. Change the line and run the example again.";

#[derive(Default)]
struct BusyApi {
    requests: AtomicU32,
}

impl BusyApi {
    async fn post(&self, key: &str, _prompt: &str) -> Response<String> {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let response = Response::builder();
        let response = match (key, self.requests.fetch_add(1, Ordering::Relaxed)) {
            ("wrong", _) => response.status(401).body(String::new()),
            (_, 0) => response.status(503).body(String::new()),
            (_, 1) => response
                .status(429)
                .header("retry-after", "1")
                .body(String::new()),
            (_, 2) => pending().await,
            (_, _) => response.body(String::from("Hello!")),
        };
        response.expect("status and headers are valid")
    }
}
