//! [`async-openai`](https://docs.rs/async-openai/0.43) 0.43.
//!
//! ```
//! use async_openai::Client;
//! use async_openai::config::OpenAIConfig;
//! use async_openai::error::OpenAIError;
//! use async_openai::types::chat::{
//!     CreateChatCompletionRequest, CreateChatCompletionResponse,
//! };
//! use retry_clients::async_openai::{classify, client_without_retries};
//! use retry_runtime::retry;
//!
//! struct Model(Client<OpenAIConfig>);
//!
//! impl Model {
//!     #[retry(max = 5, on = classify)]
//!     async fn complete(
//!         &self,
//!         request: &CreateChatCompletionRequest,
//!     ) -> Result<CreateChatCompletionResponse, OpenAIError> {
//!         self.0.chat().create(request.clone()).await
//!     }
//! }
//!
//! let model = Model(client_without_retries(OpenAIConfig::new()));
//! # let _ = Model::complete;
//! ```
//!
//! An error status makes the call itself fail. If a stream fails later, it yields the error as an item: see [`whole`].

use ::async_openai::Client;
use ::async_openai::config::Config;
use ::async_openai::error::{ApiErrorResponse, OpenAIError, StreamError};
use futures_util::Stream;
use http::HeaderMap;
use retry_runtime::llm::ProviderError;
use retry_runtime::{Classify, ResponseError, Verdict};
use serde_json::json;

pub use self::one_request::OneRequest;
use self::one_request::RefusedResponse;
use crate::Truncated;
use crate::causes::BROKEN;

mod one_request;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without a hint | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429, `rate_limit_exceeded`, `slow_down` | throttled |
/// | no connection | transient |
/// | a broken connection, also inside a stream; a [`Truncated`] stream | transient, ambiguous |
/// | an HTTP client timeout | timeout |
/// | a body with an error code for throttling or overload, with any status | by its `type` and `code` |
/// | an error in place of a response or a stream item | by its `type` and `code` |
/// | `insufficient_quota` and other limits that waiting doesn't lift; other statuses; invalid arguments; unreadable responses | stop |
///
/// Hints need [`client_without_retries`], because the error type can't contain headers. With other clients, every 503
/// is ambiguous.
pub fn classify(error: &OpenAIError) -> Verdict {
    match error {
        OpenAIError::Reqwest(error) => error.classify(),
        OpenAIError::ApiError(refusal) => status_verdict(refusal),
        OpenAIError::StreamError(error) => match &**error {
            // The client keeps only the error text of `eventsource_stream`.
            StreamError::EventStream(text) if text.starts_with("Transport error") => BROKEN,
            _ => Verdict::STOP,
        },
        OpenAIError::JSONDeserialize(_, content) => {
            ProviderError::parse(content).map_or(Verdict::STOP, |error| error.classify())
        }
        OpenAIError::Boxed(error) => match error.downcast_ref::<RefusedResponse>() {
            Some(refused) => refused.verdict,
            None => error.is::<Truncated>().into(),
        },
        _ => Verdict::STOP,
    }
}

fn status_verdict(refusal: &ApiErrorResponse) -> Verdict {
    let body = json!({ "error": refusal.api_error }).to_string();
    ResponseError::new(refusal.status_code, HeaderMap::new(), body).classify()
}

/// Creates a client that sends one request per call; a client from `Client::with_config` sends up to four.
///
/// The new client's errors contain more. Every response with an error status is an [`OpenAIError::ApiError`] with the
/// status, even if its body can't be read. If headers ask for a wait or override the status (`x-should-retry`), the
/// error is an [`OpenAIError::Boxed`] that contains the resulting verdict. [`api_error`] reads both variants. To use
/// your own HTTP client, see [`OneRequest`].
///
/// # Panics
///
/// Panics if `reqwest` can't set up TLS, like `Client::with_config`.
pub fn client_without_retries<C: Config>(config: C) -> Client<C> {
    let builder = reqwest::Client::builder().retry(reqwest::retry::never());
    let http = builder.build().unwrap_or_default();
    Client::build(http.clone(), config).with_http_service(OneRequest::new(http))
}

/// Returns the API's response from an error: the status and the content of the body.
pub fn api_error(error: &OpenAIError) -> Option<&ApiErrorResponse> {
    match error {
        OpenAIError::ApiError(refusal) => Some(refusal),
        OpenAIError::Boxed(error) => error
            .downcast_ref()
            .map(|refused: &RefusedResponse| &refused.answer),
        _ => None,
    }
}

/// Returns the stream, and appends an error if it ends without a last item. Without `whole`, if the connection closes
/// early, this client's stream ends as if it were complete. `is_last` recognizes the last item. For chat completions,
/// pass `|chunk| chunk.choices.iter().any(|choice| choice.finish_reason.is_some())`.
pub fn whole<T>(
    stream: impl Stream<Item = Result<T, OpenAIError>>,
    is_last: impl Fn(&T) -> bool,
) -> impl Stream<Item = Result<T, OpenAIError>> {
    crate::whole::whole(stream, is_last, || OpenAIError::Boxed(Box::new(Truncated)))
}
