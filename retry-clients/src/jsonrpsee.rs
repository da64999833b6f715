//! [`jsonrpsee`](https://docs.rs/jsonrpsee/0.26) 0.26, over HTTP and web sockets.
//!
//! ```
//! use jsonrpsee_core::ClientError;
//! use jsonrpsee_core::client::ClientT;
//! use jsonrpsee_core::params::ArrayParams;
//! use jsonrpsee_http_client::HttpClient;
//! use retry_clients::jsonrpsee::classify;
//! use retry_runtime::retry;
//!
//! struct Node(HttpClient);
//!
//! impl Node {
//!     #[retry(max = 5, on = classify)]
//!     async fn height(&self) -> Result<String, ClientError> {
//!         self.0.request("eth_blockNumber", ArrayParams::new()).await
//!     }
//! }
//! # let _ = Node::height;
//! ```

use std::error::Error as StdError;

use http::header::{HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use jsonrpsee_client_transport::ws::{WsError, WsHandshakeError};
use jsonrpsee_core::ClientError;
use jsonrpsee_core::http_helpers::HttpError;
use jsonrpsee_http_client::transport::Error as HttpTransportError;
use jsonrpsee_types::ErrorObject;
use jsonrpsee_types::error::SERVER_IS_BUSY_CODE;
use retry_runtime::{Classify, Kind, ResponseError, Verdict, on};
use serde_json::Value;

use crate::causes::BROKEN;

/// Texts for "too many requests" from providers of blockchain nodes. There is no common code: -32005 is EIP-1474's
/// "limit exceeded", but some providers also return it for a query with too many results.
const LIMITS: [&str; 6] = [
    "rate limit",
    "rate exceeded",
    "request limit",
    "rps limit",
    "too many requests",
    "credits limited",
];

/// The text and the code with which nodes report a reverted contract. The rest of the text is the contract's own.
const REVERTED: &str = "revert";
const REVERTED_CODE: i32 = 3;

/// The web socket crate's text for a response that is too large.
const TOO_LARGE: &str = "message too large";

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | the server is busy (-32009) | transient: not processed |
/// | an error with the code 429, or with a text such as "rate limit" or "too many requests" | throttled |
/// | an HTTP status: 408 or a retryable 5xx | transient, ambiguous |
/// | the same status when a web socket is opened | transient: no request was sent |
/// | 425 | transient |
/// | 429 | throttled |
/// | connecting failed or timed out | transient |
/// | a broken connection; a client that lost its web socket, and must be created again | transient, ambiguous |
/// | no response in time | timeout |
/// | daily or monthly limits, unpaid bills, reverted contracts, all other errors of a server, other statuses, requests and responses that are larger than the client allows, unreadable responses over HTTP, untrusted certificates, invalid addresses | stop |
///
/// The hint is `rate.backoff_seconds` in the data of an error, or else the wait in its message, because this client
/// drops the headers.
///
/// A message that is too large closes its web socket and ends all other requests on it: they get the same error, and
/// stop, too.
pub fn classify(error: &ClientError) -> Verdict {
    match error {
        ClientError::Call(error) => response_verdict(error),
        ClientError::Transport(error) => transport_verdict(&**error),
        ClientError::RestartNeeded(error) => lost_connection_verdict(error),
        ClientError::RequestTimeout => Verdict::TIMEOUT,
        _ => Verdict::STOP,
    }
}

fn response_verdict(error: &ErrorObject<'_>) -> Verdict {
    let message = error.message().to_ascii_lowercase();
    let is_of_node = error.code() != REVERTED_CODE && !message.contains(REVERTED);
    let is_limit = is_of_node && LIMITS.iter().any(|limit| message.contains(limit));
    let is_limited = error.code() == 429 || is_limit;
    if error.code() == SERVER_IS_BUSY_CODE {
        Verdict::TRANSIENT
    } else if is_limited {
        let headers = HeaderMap::from_iter(backoff(error));
        ResponseError::new(StatusCode::TOO_MANY_REQUESTS, headers, error.message()).classify()
    } else {
        Verdict::STOP
    }
}

/// Returns the wait as a `Retry-After` header, because the header's parser rejects invalid waits.
fn backoff(error: &ErrorObject<'_>) -> Option<(HeaderName, HeaderValue)> {
    let data: Value = serde_json::from_str(error.data()?.get()).ok()?;
    let seconds = data.get("rate")?.get("backoff_seconds")?.to_string();
    Some((RETRY_AFTER, HeaderValue::try_from(seconds).ok()?))
}

fn transport_verdict(error: &(dyn StdError + Send + Sync + 'static)) -> Verdict {
    // The timeout of a notification.
    if let Some(error) = error.downcast_ref() {
        return classify(error);
    }
    if let Some(error) = error.downcast_ref() {
        return handshake_verdict(error);
    }
    match error.downcast_ref() {
        Some(HttpTransportError::Rejected { status_code }) => status_verdict(*status_code),
        Some(HttpTransportError::Http(HttpError::Stream(error))) => error.classify(),
        Some(_) => Verdict::STOP,
        None => error.classify(),
    }
}

/// The verdict if a web socket could not be opened. No request was sent, so nothing is ambiguous.
fn handshake_verdict(error: &WsHandshakeError) -> Verdict {
    let verdict = match error {
        WsHandshakeError::Timeout(_) | WsHandshakeError::ResolutionFailed(_) => Verdict::TRANSIENT,
        WsHandshakeError::Rejected { status_code } => status_verdict(*status_code),
        WsHandshakeError::Io(error) => error.classify(),
        WsHandshakeError::Transport(error) => on::cause(error),
        _ => Verdict::STOP,
    };
    match verdict.kind() {
        Some(Kind::Throttled) => Verdict::THROTTLED,
        Some(_) => Verdict::TRANSIENT,
        None => Verdict::STOP,
    }
}

/// The verdict if an open web socket was lost. A message that is too large would close the next one, too.
fn lost_connection_verdict(error: &ClientError) -> Verdict {
    let cause = match error {
        ClientError::Transport(error) => error.downcast_ref(),
        _ => None,
    };
    match cause {
        Some(WsError::MessageTooLarge) => Verdict::STOP,
        Some(WsError::Connection(error)) if error.to_string().starts_with(TOO_LARGE) => {
            Verdict::STOP
        }
        _ => BROKEN,
    }
}

fn status_verdict(status: u16) -> Verdict {
    StatusCode::from_u16(status).map_or(Verdict::STOP, |status| status.classify())
}
