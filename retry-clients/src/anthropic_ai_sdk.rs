//! [`anthropic-ai-sdk`](https://docs.rs/anthropic-ai-sdk/0.2) 0.2.
//!
//! ```
//! use anthropic_ai_sdk::client::AnthropicClient;
//! use anthropic_ai_sdk::types::message::{
//!     CreateMessageParams, CreateMessageResponse, MessageClient, MessageError,
//! };
//! use retry_clients::anthropic_ai_sdk::classify;
//! use retry_runtime::retry;
//!
//! struct Model(AnthropicClient);
//!
//! impl Model {
//!     // This client drops `Retry-After`, so wait longer when throttled.
//!     #[retry(max = 5, on = classify, throttled(base = "5s", cap = "60s"))]
//!     async fn create(
//!         &self,
//!         message: &CreateMessageParams,
//!     ) -> Result<CreateMessageResponse, MessageError> {
//!         self.0.create_message(Some(message)).await
//!     }
//! }
//! # let _ = Model::create;
//! ```
//!
//! This client keeps only the body of a response, not the status or the headers. So a gateway's error with another kind
//! of body is not retried.

use anthropic_ai_sdk::types::message::{MessageError, StreamEvent};
use futures_util::{Stream, StreamExt};
use retry_runtime::llm::ProviderError;
use retry_runtime::{Classify, Verdict};
use serde_json::json;

use crate::Truncated;
use crate::causes::BROKEN;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | `api_error`, `overloaded_error` | transient, ambiguous: the server may have done part of the work |
/// | `rate_limit_error` | throttled |
/// | `timeout_error` | timeout |
/// | no connection, an untrusted certificate, a broken connection, a timeout: this client doesn't distinguish them | transient, ambiguous |
/// | a [`Truncated`] stream | transient, ambiguous |
/// | `enforced_spend_limit_reached` and other limits that waiting doesn't lift, other types, unreadable responses, bodies that are not Anthropic's | stop |
pub fn classify(error: &MessageError) -> Verdict {
    match error {
        MessageError::ApiError(text) | MessageError::RequestFailed(text) if is_broken(text) => {
            BROKEN
        }
        MessageError::ApiError(body) => {
            ProviderError::parse(body).map_or(Verdict::STOP, |error| error.classify())
        }
        MessageError::RequestFailed(_) => Verdict::STOP,
    }
}

/// Matches the error texts of `reqwest`, its streams, and this client's response reader. The client keeps only the text
/// of the cause.
fn is_broken(text: &str) -> bool {
    [
        "error sending request",
        "Transport error",
        "Failed to get response body",
        "Failed to read error response",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || text == Truncated.to_string()
}

/// Returns the events of a response. An `error` event becomes an error, and so does an end without `message_stop`.
/// Without `whole`, this client yields an `error` event like any other item, and if the connection closes early, its
/// stream ends as if it were complete.
///
/// ```
/// # use anthropic_ai_sdk::client::AnthropicClient;
/// # use anthropic_ai_sdk::types::message::{CreateMessageParams, MessageClient, MessageError, StreamEvent};
/// # use futures_util::stream::{BoxStream, StreamExt};
/// # use retry_clients::anthropic_ai_sdk::{classify, whole};
/// # use retry_runtime::retry;
/// # struct Model(AnthropicClient);
/// # impl Model {
/// #[retry(stream = "buffer", max = 5, on = classify)]
/// async fn events<'a>(
///     &'a self,
///     message: &'a CreateMessageParams,
/// ) -> Result<BoxStream<'a, Result<StreamEvent, MessageError>>, MessageError> {
///     Ok(whole(self.0.create_message_streaming(message).await?).boxed())
/// }
/// # }
/// # let _ = Model::events;
/// ```
pub fn whole(
    events: impl Stream<Item = Result<StreamEvent, MessageError>>,
) -> impl Stream<Item = Result<StreamEvent, MessageError>> {
    let events = events.map(|event| match event? {
        StreamEvent::Error { error } => Err(MessageError::ApiError(
            json!({ "error": error }).to_string(),
        )),
        event => Ok(event),
    });
    let is_last = |event: &_| matches!(event, StreamEvent::MessageStop);
    crate::whole::whole(events, is_last, || {
        MessageError::RequestFailed(Truncated.to_string())
    })
}
