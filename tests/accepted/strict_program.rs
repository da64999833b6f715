//! A documented program with pedantic lints, and without the standard prelude of macros.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
#![warn(
    clippy::pedantic,
    clippy::nursery,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

/// The client.
#[derive(Debug, Default)]
pub struct Client {
    attempts: AtomicU32,
}

/// The client's errors.
#[derive(Debug, retry_runtime::Classify)]
#[classify(transient)]
#[non_exhaustive]
pub enum ModelError {
    /// Too many callers.
    Overloaded,
    /// No key.
    #[classify(stop)]
    Unauthorized,
}

impl Client {
    /// Completes a prompt.
    ///
    /// # Errors
    ///
    /// If the model is overloaded.
    #[retry_runtime::retry(max = 2, backoff = "none")]
    pub fn complete(&self, prompt: &str) -> Result<String, ModelError> {
        if prompt.is_empty() {
            return Err(ModelError::Unauthorized);
        }
        if self.attempts.fetch_add(1, Ordering::Relaxed) < 2 {
            Err(ModelError::Overloaded)
        } else {
            Ok(prompt.to_owned())
        }
    }
}

fn main() -> ExitCode {
    let client = Client::default();
    assert!(client.complete("hello").is_ok());
    assert_eq!(client.attempts.load(Ordering::Relaxed), 3);
    ExitCode::from(u8::from(client.complete("").is_ok()))
}
