//! [`rmcp`](https://docs.rs/rmcp/3) 3, the client of the Model Context Protocol.
//!
//! ```
//! use retry_clients::rmcp::classify;
//! use retry_runtime::retry;
//! use rmcp::model::{CallToolRequestParams, CallToolResult};
//! use rmcp::{Peer, RoleClient, ServiceError};
//!
//! struct Tools(Peer<RoleClient>);
//!
//! impl Tools {
//!     // Each call of a tool may take effect, unless the tool is annotated `idempotentHint`.
//!     #[retry(max = 5, on = classify, idempotent = false)]
//!     async fn call(
//!         &self,
//!         tool: &'static str,
//!     ) -> Result<CallToolResult, ServiceError> {
//!         self.0.call_tool(CallToolRequestParams::new(tool)).await
//!     }
//! }
//! # let _ = Tools::call;
//! ```
//!
//! A failed tool is not an error of this client, but a result with `is_error`: set `until` to call the tool again. Over
//! HTTP, this client reopens broken event streams by itself. It resends a request only if its session has expired; in
//! that case, the server did not process the request. `reinit_on_expired_session(false)` disables this retry.

use std::error::Error as StdError;

use ::rmcp::ServiceError;
use ::rmcp::service::ClientInitializeError;
use ::rmcp::transport::DynamicTransportError;
use ::rmcp::transport::streamable_http_client::{HttpStatusError, StreamableHttpError};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use retry_runtime::{Classify, Verdict};

use crate::causes::BROKEN;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | an HTTP response with 408 or a retryable 5xx, 503 only without a hint, if its body is not an error of the protocol | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429 | throttled |
/// | no connection over HTTP | transient |
/// | a broken connection; a closed transport, which needs a new connection | transient, ambiguous |
/// | no response in time | timeout |
/// | errors that the server returns, other statuses, expired sessions, missing authorization, anything else | stop |
///
/// The hint is `retry-after`. The only known HTTP transport is the one with `reqwest`.
pub fn classify(error: &ServiceError) -> Verdict {
    match error {
        ServiceError::TransportSend(error) => transport_verdict(error),
        ServiceError::TransportClosed => BROKEN,
        ServiceError::Timeout { .. } => Verdict::TIMEOUT,
        _ => Verdict::STOP,
    }
}

/// Like [`classify`], for errors while connecting.
///
/// ```
/// use retry_clients::rmcp::connecting;
/// use retry_runtime::retry;
/// use rmcp::service::{ClientInitializeError, RunningService};
/// use rmcp::transport::StreamableHttpClientTransport;
/// use rmcp::{RoleClient, serve_client};
///
/// #[retry(max = 5, on = connecting)]
/// async fn connect(
///     url: &str,
/// ) -> Result<RunningService<RoleClient, ()>, ClientInitializeError> {
///     serve_client((), StreamableHttpClientTransport::from_uri(url)).await
/// }
/// # let _ = connect;
/// ```
pub fn connecting(error: &ClientInitializeError) -> Verdict {
    match error {
        ClientInitializeError::TransportError { error, .. } => transport_verdict(error),
        ClientInitializeError::ConnectionClosed(_) => BROKEN,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => connecting(fallback),
        _ => Verdict::STOP,
    }
}

fn transport_verdict(error: &DynamicTransportError) -> Verdict {
    let error: &(dyn StdError + Send + Sync + 'static) = &*error.error;
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::HttpStatus(answer)) => response_verdict(answer),
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => text_verdict(text),
        Some(StreamableHttpError::Client(error)) => error.classify(),
        Some(
            StreamableHttpError::UnexpectedEndOfStream
            | StreamableHttpError::TransportChannelClosed,
        ) => BROKEN,
        // The server may have worked on the request before its session expired.
        Some(StreamableHttpError::SessionRecoveryTimeout) => Verdict::TIMEOUT,
        None if error.classify().is_retryable() => BROKEN,
        _ => Verdict::STOP,
    }
}

fn response_verdict(answer: &HttpStatusError) -> Verdict {
    let wait = answer.retry_after.as_ref();
    let wait = wait.and_then(|wait| HeaderValue::try_from(wait).ok());
    let headers = wait.map(|wait| HeaderMap::from_iter([(RETRY_AFTER, wait)]));
    StatusCode::from_u16(answer.status).map_or(Verdict::STOP, |status| {
        Verdict::from_http(status, &headers.unwrap_or_default())
    })
}

/// Classifies an error by its text. The client keeps nothing else for 4xx statuses, except for 429.
fn text_verdict(text: &str) -> Verdict {
    let status = text.strip_prefix("HTTP ").and_then(|rest| rest.get(..3));
    let status = status.and_then(|status| StatusCode::from_bytes(status.as_bytes()).ok());
    status.map_or(Verdict::STOP, |status| status.classify())
}
