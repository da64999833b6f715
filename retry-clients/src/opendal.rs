//! [`opendal`](https://docs.rs/opendal/0.59) 0.59.
//!
//! ```
//! use opendal::{Buffer, Operator};
//! use retry_clients::opendal::classify;
//! use retry_runtime::retry;
//!
//! struct Store(Operator);
//!
//! impl Store {
//!     #[retry(max = 5, on = classify)]
//!     async fn read(&self, path: &str) -> opendal::Result<Buffer> {
//!         self.0.read(path).await
//!     }
//! }
//! # let _ = Store::read;
//! ```
//!
//! Don't add opendal's `RetryLayer`. Without that layer, opendal doesn't retry.

use ::opendal::{Error, ErrorKind};
use retry_runtime::Verdict;

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | `RateLimited` | throttled |
/// | errors with `is_temporary`, such as a 500, a 503, a broken connection or an untrusted certificate | transient, ambiguous |
/// | anything else | stop |
///
/// A temporary error doesn't show whether the request was sent, and doesn't contain a hint.
pub fn classify(error: &Error) -> Verdict {
    if error.kind() == ErrorKind::RateLimited {
        Verdict::THROTTLED
    } else {
        error.is_temporary().into()
    }
}
