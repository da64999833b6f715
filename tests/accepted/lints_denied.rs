//! Generated code doesn't trigger lints.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    future_incompatible,
    keyword_idents,
    let_underscore,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    rust_2024_compatibility,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_code,
    unused,
    unused_braces,
    unused_import_braces,
    unused_lifetimes,
    unused_mut,
    unused_qualifications,
    unused_results,
    unused_variables,
    variant_size_differences
)]

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use retry_runtime::{Classify, Event, EventData, GaveUp, Policy, TimedOut, retry, retrying};

/// A failure of the model.
#[derive(Clone, Debug, PartialEq, Eq, retry_runtime::Classify)]
#[classify(stop)]
#[non_exhaustive]
pub enum ModelError {
    /// Asked too often.
    #[classify(throttled, after = retry_after)]
    Throttled {
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
    },
    /// There was no response in time.
    #[classify(timeout)]
    TimedOut(TimedOut),
    /// Not allowed.
    Unauthorized,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<TimedOut> for ModelError {
    fn from(timed_out: TimedOut) -> Self {
        Self::TimedOut(timed_out)
    }
}

/// A client that counts.
#[derive(Debug, Default)]
pub struct Client {
    attempts: AtomicU32,
    events: AtomicU32,
    policy: Policy,
}

impl Client {
    /// Fails twice.
    fn send(&self) -> Result<u32, ModelError> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        if attempt % 3 == 0 {
            Ok(attempt)
        } else {
            Err(ModelError::Throttled { retry_after: None })
        }
    }

    fn attempts(&self) -> u32 {
        self.attempts.swap(0, Ordering::Relaxed)
    }

    fn is_ready(value: &u32) -> bool {
        *value > 3
    }

    fn observe(&self, event: &Event<'_>) {
        if matches!(event.data, EventData::Retrying { .. }) {
            let _: u32 = self.events.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Every key of a schedule.
    #[retry(
        max = 5,
        backoff = "exp",
        base = "1ms",
        factor = 2,
        cap = "2ms",
        jitter = 0.2,
        hint = "clamp",
        deadline = "10m"
    )]
    pub async fn complete(&self) -> Result<u32, ModelError> {
        self.send()
    }

    /// Every key but those.
    #[retry(
        policy = &self.policy,
        on = Classify::classify,
        until = Self::is_ready,
        timeout = "10s",
        hedge = "5s",
        idempotent = true,
        attempt = attempt,
        repeats = 4,
        give_up = GaveUp::into_error,
        observe = |event| self.observe(event),
        name = "model.stream"
    )]
    pub async fn stream(&self) -> Result<u32, ModelError> {
        if attempt.is_last() {
            return Err(ModelError::Unauthorized);
        }
        let answer = self.send()?;
        Ok(answer)
    }

    /// On its thread.
    #[retry(backoff = "none", fallback = |gave_up| Err(gave_up.into_error()), throttled(max = 1, backoff = "none"))]
    pub fn embed(&self, text: &str) -> Result<usize, ModelError> {
        let _: u32 = self.send()?;
        Ok(text.len())
    }

    /// A future.
    #[retry(backoff = "none")]
    #[must_use]
    pub fn models<'a>(&'a self) -> impl Future<Output = Result<u32, ModelError>> + 'a {
        async { self.send() }
    }

    /// Blocks.
    pub async fn blocks(&self) -> Result<u32, ModelError> {
        let embedded = retrying!(backoff = "none", attempt = attempt, {
            if attempt.number() > 9 {
                return Err(ModelError::Unauthorized);
            }
            self.send()
        })?;
        let answer = retrying!(
            on = |error: &ModelError| error.classify(),
            backoff = "none",
            validate = |_| Ok(()),
            give_up = GaveUp::into_error,
            timeout = "10s",
            async {
                let answer = self.send()?;
                Ok(answer)
            }
        );
        Ok(embedded + answer.await?)
    }

    /// Starts a second attempt next to a slow one.
    #[retry(backoff = "none", hedge = "1s")]
    pub async fn search(&self) -> Result<u32, ModelError> {
        let answer = self.send()?;
        Ok(answer)
    }

    /// Always fails.
    #[retry_runtime::retry(max = 0)]
    pub async fn log_in(&self) -> io::Result<()> {
        let _: u32 = self.attempts.fetch_add(1, Ordering::Relaxed);
        Err(io::Error::from(io::ErrorKind::ConnectionRefused))
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let client = Client::default();
    assert_eq!(client.complete().await, Ok(3));
    assert_eq!(client.attempts(), 3);
    assert_eq!(client.stream().await, Err(ModelError::Unauthorized));
    assert_eq!(client.attempts(), 3);
    assert_eq!(client.events.load(Ordering::Relaxed), 3);
    assert!(client.embed("hello").is_err());
    assert_eq!(client.attempts(), 2);
    assert_eq!(client.models().await, Ok(3));
    assert_eq!(client.attempts(), 3);
    assert_eq!(client.blocks().await, Ok(9));
    assert_eq!(client.attempts(), 6);
    assert_eq!(client.search().await, Ok(3));
    assert_eq!(client.attempts(), 3);
    assert!(client.log_in().await.is_err());
    assert_eq!(client.attempts(), 1);
}
