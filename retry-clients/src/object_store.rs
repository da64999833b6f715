//! [`object_store`](https://docs.rs/object_store/0.14) 0.14.
//!
//! ```
//! use std::sync::Arc;
//! use object_store::path::Path;
//! use object_store::{GetResult, ObjectStore, ObjectStoreExt, RetryConfig};
//! use retry_clients::object_store::{classify, no_retries};
//! use retry_runtime::retry;
//!
//! struct Store(Arc<dyn ObjectStore>);
//!
//! impl Store {
//!     #[retry(max = 5, on = classify)]
//!     async fn read(&self, path: &Path) -> object_store::Result<GetResult> {
//!         self.0.get(path).await
//!     }
//! }
//!
//! // For `with_retry` on every store's builder.
//! let retries: RetryConfig = no_retries();
//! assert_eq!(retries.max_retries, 0);
//! # let _ = Store::read;
//! ```

use std::error::Error as StdError;
use std::iter;

use ::object_store::client::{HttpError, HttpErrorKind};
use ::object_store::{Error, RetryConfig};
use http::StatusCode;
use retry_runtime::{Classify, Verdict};

use crate::causes::{BROKEN, by_reqwest};

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, or with the code `InternalError` | transient, ambiguous |
/// | 425 | transient |
/// | 429, or a response with the code `SlowDown` | throttled |
/// | no connection | transient |
/// | a broken connection | transient, ambiguous |
/// | a timeout | timeout |
/// | objects that don't exist, or already exist; missing permissions, other statuses, untrusted certificates, invalid paths, unreadable responses | stop |
///
/// This crate drops the headers, so there are no hints. The status is parsed from the error's text.
pub fn classify(error: &Error) -> Verdict {
    let Error::Generic { source, .. } = error else {
        return Verdict::STOP;
    };
    let source: &(dyn StdError + 'static) = &**source;
    for cause in iter::successors(Some(source), |&cause| cause.source()) {
        if let Some(error) = cause.downcast_ref::<HttpError>() {
            return kind_verdict(error);
        }
        if let Some(verdict) = text_verdict(&cause.to_string()) {
            return verdict;
        }
    }
    Verdict::STOP
}

fn kind_verdict(error: &HttpError) -> Verdict {
    match error.kind() {
        HttpErrorKind::Connect => by_reqwest(error).unwrap_or(Verdict::TRANSIENT),
        HttpErrorKind::Request | HttpErrorKind::Interrupted => BROKEN,
        HttpErrorKind::Timeout => Verdict::TIMEOUT,
        _ => Verdict::STOP,
    }
}

/// Classifies an error by its text, because the error types with the status are private.
fn text_verdict(text: &str) -> Option<Verdict> {
    if let Some(body) = text.strip_prefix("Server returned error response: ") {
        return Some(body_verdict(body));
    }
    let answer = text.strip_prefix("Server returned non-2xx status code: ")?;
    let status = StatusCode::from_bytes(answer.get(..3)?.as_bytes()).ok()?;
    // S3 sends this code with a 503.
    let slow_down = status.classify().is_retryable() && answer.contains("SlowDown");
    Some(if slow_down {
        Verdict::THROTTLED
    } else {
        status.classify()
    })
}

/// Classifies an error body with status 200, which S3 can send.
fn body_verdict(body: &str) -> Verdict {
    if body.contains("SlowDown") {
        Verdict::THROTTLED
    } else {
        body.contains("InternalError").into()
    }
}

/// Returns the configuration for a store that sends one request per call, instead of up to eleven within three minutes.
pub fn no_retries() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}
