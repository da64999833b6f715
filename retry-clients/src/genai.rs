//! [`genai`](https://docs.rs/genai/0.7) 0.7.
//!
//! ```
//! use genai::Client;
//! use genai::chat::{ChatRequest, ChatResponse};
//! use retry_clients::genai::classify;
//! use retry_runtime::retry;
//!
//! struct Model(Client);
//!
//! impl Model {
//!     #[retry(max = 5, on = classify)]
//!     async fn chat(&self, request: &ChatRequest) -> genai::Result<ChatResponse> {
//!         self.0.exec_chat("gpt-4o-mini", request.clone(), None).await
//!     }
//! }
//! # let _ = Model::chat;
//! ```
//!
//! This client's stream yields its first item, `Start`, before it sends the request. With [`whole`], which removes that
//! item, `stream = "first"` and `stream = "buffer"` can retry the stream.

use std::error::Error as StdError;
use std::future::ready;

use ::genai::chat::{ChatStreamEvent, ChatStreamResponse};
use ::genai::{Error, webc};
use futures_util::{Stream, StreamExt};
use http::{HeaderMap, StatusCode};
use retry_runtime::llm::ProviderError;
use retry_runtime::{Classify, ResponseError, Verdict};

use crate::Truncated;
use crate::causes::BROKEN;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without a hint | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429 | throttled |
/// | no connection | transient |
/// | a broken connection, also inside a stream; a [`Truncated`] stream | transient, ambiguous |
/// | a timeout of the HTTP client or of a stream | timeout |
/// | a body with an error code for throttling or overload, with any status | by its `type`, `code` and `status` |
/// | an error in place of a response or a stream item | by its `type`, `code` and `status` |
/// | limits that waiting doesn't lift, such as a daily quota or an unpaid bill; other statuses, invalid requests, missing keys, unreadable responses | stop |
///
/// The header `x-should-retry` overrides the status. Hints in headers and in Google's bodies are used.
pub fn classify(error: &Error) -> Verdict {
    match error {
        Error::HttpError {
            status,
            headers,
            body,
            ..
        } => response_verdict(*status, headers, body),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            call_verdict(webc_error)
        }
        Error::WebStream { error, .. } => stream_verdict(&**error),
        Error::ChatResponse { body, .. } => {
            // For some bodies this client keeps only the value of `error`.
            let error = ProviderError::parse(body.to_string())
                .or_else(|| ProviderError::parse(format!(r#"{{"error":{body}}}"#)));
            error.map_or(Verdict::STOP, |error| error.classify())
        }
        _ => Verdict::STOP,
    }
}

fn call_verdict(error: &webc::Error) -> Verdict {
    match error {
        webc::Error::ResponseFailedStatus {
            status,
            headers,
            body,
        } => response_verdict(*status, headers, body),
        webc::Error::Reqwest(error) => error.classify(),
        _ => Verdict::STOP,
    }
}

fn response_verdict(status: StatusCode, headers: &HeaderMap, body: &str) -> Verdict {
    ResponseError::new(status, headers.clone(), body).classify()
}

/// Classifies a stream's error. genai's errors don't implement `source`, so inner errors are found by type.
fn stream_verdict(error: &(dyn StdError + 'static)) -> Verdict {
    if let Some(error) = error.downcast_ref() {
        classify(error)
    } else if error.is::<Truncated>() {
        BROKEN
    } else if error.is::<webc::StreamTimeout>() {
        Verdict::TIMEOUT
    } else {
        error.classify()
    }
}

/// Returns the events of a response, without `Start`, and with an error if they end without `End`. Without `whole`, if
/// the connection closes early, this client's stream ends as if it were complete.
///
/// ```
/// # use futures_util::stream::{BoxStream, StreamExt};
/// # use genai::{Client, Error, Result, chat::{ChatRequest, ChatStreamEvent}};
/// # use retry_clients::genai::{classify, whole};
/// # use retry_runtime::retry;
/// # struct Model(Client);
/// # impl Model {
/// #[retry(stream = "buffer", max = 5, on = classify)]
/// async fn events(
///     &self,
///     request: &ChatRequest,
/// ) -> Result<BoxStream<'static, Result<ChatStreamEvent>>> {
///     let answer = self.0.exec_chat_stream("gpt-4o-mini", request.clone(), None);
///     Ok(whole(answer.await?).boxed())
/// }
/// # }
/// # let _ = Model::events;
/// ```
pub fn whole(
    answer: ChatStreamResponse,
) -> impl Stream<Item = Result<ChatStreamEvent, Error>> + Send {
    let ChatStreamResponse { stream, model_iden } = answer;
    let sent = stream.filter(|event| ready(!matches!(event, Ok(ChatStreamEvent::Start))));
    let is_last = |event: &_| matches!(event, ChatStreamEvent::End(_));
    crate::whole::whole(sent, is_last, || Error::WebStream {
        model_iden,
        cause: Truncated.to_string(),
        error: Box::new(Truncated),
    })
}
