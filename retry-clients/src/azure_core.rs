//! The [Azure SDK](https://docs.rs/azure_core/1), all of its clients: `azure_core` 1.
//!
//! ```
//! use azure_core::Error;
//! use azure_core::http::{ClientOptions, RetryOptions};
//! use retry_clients::azure_core::classify;
//! use retry_runtime::retry;
//!
//! /// For the options of every client. By itself, one sends up to nine requests per call.
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

use ::azure_core::error::{Error, ErrorKind};
use ::azure_core::http::headers::Headers;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use retry_runtime::Verdict;

/// Azure's own name of `retry-after-ms`.
const X_MS_RETRY_AFTER_MS: &str = "x-ms-retry-after-ms";

/// Which failures are worth a retry.
///
/// | failure | verdict |
/// |---|---|
/// | an answer with 408, 500, 502, 503 without a hint, or 504 | transient, ambiguous |
/// | 425, 503 with a hint | transient: refused unread |
/// | 429 | throttled |
/// | no connection, also because of a certificate | transient |
/// | a connection that broke, an answer cut off, no answer in time | transient, ambiguous |
/// | other statuses (409, 412: read again first), rejected credentials, unreadable answers, all else | stop |
///
/// The hint is `retry-after-ms` or `x-ms-retry-after-ms`, or else `retry-after`.
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
        ErrorKind::Connection => Verdict::TRANSIENT,
        ErrorKind::Io => Verdict::TRANSIENT.ambiguous(),
        _ => Verdict::STOP,
    }
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
