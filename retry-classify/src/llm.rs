//! Errors in the response bodies of model APIs.
//!
//! A status doesn't distinguish a rate limit from an unpaid bill (both are a 429), and an error in the middle of an
//! event stream has no status at all. The body contains the cause:
//!
//! ```
//! use std::time::Duration;
//! use retry_runtime::llm::{Fault, ProviderError};
//! use retry_runtime::{Classify, Verdict};
//!
//! let body = r#"{"error": {
//!     "message": "You exceeded your current quota",
//!     "type": "insufficient_quota"
//! }}"#;
//! let error = ProviderError::parse(body).unwrap();
//! assert_eq!(error.fault(), Fault::Billing);
//! assert_eq!(error.classify(), Verdict::STOP);
//!
//! // An event of a stream that started with a 200.
//! let data = r#"{
//!     "type": "error",
//!     "error": {"type": "overloaded_error", "message": "Overloaded"}
//! }"#;
//! let error = ProviderError::parse(data).unwrap();
//! assert_eq!(error.classify(), Verdict::TRANSIENT.ambiguous());
//! assert_eq!(error.to_string(), "overloaded_error: Overloaded");
//!
//! // An event that is not an error.
//! let data = r#"{"choices": [{"delta": {"content": "Hello"}}]}"#;
//! assert_eq!(ProviderError::parse(data), None);
//! ```
//!
//! With the feature `http`, [`ResponseError`](crate::ResponseError) parses the body for you.
//!
//! Some failures need something other than a retry: a shorter prompt, or another model. A `fallback` can decide by the
//! fault:
//!
//! ```
//! use retry_runtime::llm::{Fault, ProviderError};
//! use retry_runtime::{GaveUp, retry};
//!
//! #[retry(fallback = |gave_up| another_way(prompt, gave_up))]
//! async fn complete(prompt: &str) -> Result<String, ProviderError> {
//!     let body = r#"{"error": {
//!         "code": "context_length_exceeded",
//!         "message": "too many tokens"
//!     }}"#;
//!     Err(ProviderError::parse(body).unwrap())
//! }
//!
//! async fn another_way(
//!     prompt: &str,
//!     gave_up: GaveUp<ProviderError>,
//! ) -> Result<String, ProviderError> {
//!     match gave_up.error().fault() {
//!         Fault::TooLong => Ok(format!("an answer to the end of {prompt}")),
//!         _ => Err(gave_up.into_error()),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! assert_eq!(complete("it all").await.unwrap(), "an answer to the end of it all");
//! # }
//! ```
//!
//! Sources: the error references of the OpenAI, Anthropic and Gemini APIs; google.rpc's `error_details.proto`.

mod envelope;
mod provider_error;
mod truncated;

pub use crate::text::fault::Fault;
pub use crate::text::wait::wait_in;
pub use provider_error::ProviderError;
#[cfg(feature = "http")]
pub(crate) use provider_error::Source;
