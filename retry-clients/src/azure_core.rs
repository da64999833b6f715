//! The [Azure SDK](https://docs.rs/azure_core/1), with all of its clients: `azure_core` 1.
//!
//! ```
//! use azure_core::Error;
//! use azure_core::http::{ClientOptions, RetryOptions};
//! use retry_clients::azure_core::classify;
//! use retry_runtime::retry;
//!
//! /// Options for any client. With the default options, a client sends up to 9 requests per call.
//! fn without_retries() -> ClientOptions {
//!     ClientOptions { retry: RetryOptions::none(), ..ClientOptions::default() }
//! }
//!
//! #[retry(max = 5, on = classify)]
//! async fn read() -> Result<Vec<u8>, Error> {
//!     // Call the client here.
//!     # Ok(Vec::new())
//! }
//! # let _ = (without_retries, read);
//! ```

use std::io;

use ::azure_core::error::{Error, ErrorKind};
use ::azure_core::http::headers::Headers;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use retry_runtime::{Classify, Verdict};

use crate::causes::{BROKEN, by_reqwest, cause};

/// Azure's own name for `retry-after-ms`.
const X_MS_RETRY_AFTER_MS: &str = "x-ms-retry-after-ms";

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without a hint | transient, ambiguous |
/// | 425, 503 with a hint | transient: not processed |
/// | 429 | throttled |
/// | no connection | transient |
/// | a broken connection, a truncated response | transient, ambiguous |
/// | no response in time | timeout |
/// | an error created from an [`io::Error`] | by its kind |
/// | untrusted certificates, other statuses (409, 412: read again first), rejected credentials, unreadable responses, anything else | stop |
///
/// The hint is `retry-after-ms` or `x-ms-retry-after-ms`, or else `retry-after`. The only known transport is `reqwest`
/// 0.13, which this SDK uses by default. Failures of any other transport are transient, and ambiguous unless the
/// transport reports that it could not connect.
pub fn classify(error: &Error) -> Verdict {
    match error.kind() {
        ErrorKind::HttpResponse {
            status,
            raw_response,
            ..
        } => {
            let headers = raw_response
                .as_ref()
                .map(|answer| headers(answer.headers()));
            StatusCode::from_u16(u16::from(*status)).map_or(Verdict::STOP, |status| {
                Verdict::from_http(status, &headers.unwrap_or_default())
            })
        }
        // After any I/O error while connecting, nothing was sent.
        ErrorKind::Connection => by_reqwest(error).unwrap_or_else(|| match by_io(error) {
            Some(verdict) if !verdict.is_retryable() => Verdict::STOP,
            _ => Verdict::TRANSIENT,
        }),
        ErrorKind::Io => by_reqwest(error).or_else(|| by_io(error)).unwrap_or(BROKEN),
        _ => Verdict::STOP,
    }
}

/// Classifies the I/O error among the causes, if any.
fn by_io(error: &Error) -> Option<Verdict> {
    cause::<io::Error>(error).map(Classify::classify)
}

fn headers(headers: &Headers) -> HeaderMap {
    let pairs = headers.iter().filter_map(|(name, value)| {
        let name = match name.as_str() {
            X_MS_RETRY_AFTER_MS => HeaderName::from_static("retry-after-ms"),
            name => HeaderName::from_bytes(name.as_bytes()).ok()?,
        };
        Some((name, HeaderValue::from_str(value.as_str()).ok()?))
    });
    pairs.collect()
}
