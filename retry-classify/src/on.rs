//! Functions for the key `on` and for `Policy::on`. They decide which failures are retried.
//!
//! ```
//! use std::io;
//! use retry_runtime::on::{self, Combine};
//! use retry_runtime::retry;
//!
//! #[derive(Debug, thiserror::Error)]
//! enum ModelError {
//!     #[error("the request failed")]
//!     Connection(#[from] io::Error),
//!     #[error("{0}")]
//!     Answer(String),
//! }
//!
//! #[retry(max = 5, on = on::cause.or(on::mentions("overloaded")))]
//! async fn complete(prompt: &str) -> Result<String, ModelError> {
//!     // …
//! #   Ok(prompt.to_owned())
//! }
//! ```
//!
//! | function | retried |
//! |---|---|
//! | [`any`] | every failure |
//! | [`cause`] | failures whose error, or first source of a known type, is retryable |
//! | `http`, with that feature | like `cause`, but only statuses and failures of HTTP clients |
//! | [`transient_io`] | connections that were refused, broke or timed out |
//! | [`transaction`] | like `cause`, plus conflicts between transactions |
//! | [`is`] | failures that your own type classifies as retryable, inside a `Box<dyn Error>` or an `anyhow::Error` |
//! | [`mentions`] | failures whose message contains the given text |
//!
//! All of these functions except `is` accept any `'static` [`Error`](std::error::Error), boxes of `dyn Error`,
//! `anyhow::Error` (with its feature), and texts. [`Combine`] combines the functions with each other and with your own.

mod combine;
mod inspect;
mod within;

pub use combine::Combine;
pub use inspect::Inspect;
pub use within::{Chain, is};

#[cfg(feature = "std")]
pub use crate::registry::known;

use crate::{Verdict, by_cause};

/// Retries every failure, as transient and ambiguous.
///
/// Use it for operations that fail only by chance. For a service, it would also retry bad requests and unpaid bills:
/// use [`cause`] instead, or exclude permanent failures, as in `on::any.except(on::mentions("insufficient_quota"))`.
///
/// ```
/// use retry_runtime::{Policy, on};
///
/// let mut attempts = 0;
/// let result = Policy::none().max(2).on(on::any).call_blocking(|| {
///     attempts += 1;
///     Err::<(), _>("no error type")
/// });
/// assert_eq!((result, attempts), (Err("no error type"), 3));
/// ```
pub fn any<E: ?Sized>(_error: &E) -> bool {
    true
}

/// Classifies by the causes: searches the error and its sources, from the outside in, for a known type, and the first
/// one found decides. If no known type is found, the call stops.
///
/// The known types, even in a `Box` or `Arc`, are [`std::io::Error`], [`TimedOut`](crate::TimedOut), the `Elapsed` of
/// tokio and tower, tower's `Overloaded`, `ResponseError`, the error types of all enabled clients, and types registered
/// with `on::known`. So an enum of `#[from]` variants needs nothing else if each variant has its own message. A variant
/// with `#[error(transparent)]` hides its inner error, which is then not a source and can't be found: derive
/// [`Classify`](crate::Classify) for such an enum, with `#[classify(transparent)]`.
///
/// ```
/// use std::io;
/// use retry_runtime::{Verdict, on};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("can't load the prompt")]
/// struct LoadError(#[from] io::Error);
///
/// let refused = LoadError(io::ErrorKind::ConnectionRefused.into());
/// assert_eq!(on::cause(&refused), Verdict::TRANSIENT);
/// let missing = LoadError(io::ErrorKind::NotFound.into());
/// assert_eq!(on::cause(&missing), Verdict::STOP);
/// ```
pub fn cause<E: Inspect<Via> + ?Sized, Via>(error: &E) -> Verdict {
    error.inspected().verdict(by_cause::lookup)
}

/// Like [`cause`], but only for statuses and the failures of HTTP clients: [`ResponseError`](crate::ResponseError),
/// reqwest, hyper-util and ureq. Everything else stops.
///
/// ```
/// use std::error::Error;
/// use http::{HeaderMap, StatusCode};
/// use retry_runtime::{ResponseError, Verdict, on};
///
/// let error = ResponseError::new(StatusCode::BAD_GATEWAY, HeaderMap::new(), "");
/// let error: Box<dyn Error + Send + Sync> = error.into();
/// assert_eq!(on::http(&error), Verdict::TRANSIENT.ambiguous());
/// ```
#[cfg(feature = "http")]
pub fn http<E: Inspect<Via> + ?Sized, Via>(error: &E) -> Verdict {
    error.inspected().verdict(by_cause::http_verdict)
}

/// Retries connections that were refused, broke or timed out: like [`cause`], but only for a [`std::io::Error`], a
/// [`TimedOut`](crate::TimedOut) or a client's connection error. Everything else stops, including statuses and other
/// responses.
///
/// ```
/// use std::io;
/// use retry_runtime::{Verdict, on};
///
/// let reset = io::Error::from(io::ErrorKind::ConnectionReset);
/// let wrapped = io::Error::other(reset);
/// assert_eq!(on::transient_io(&wrapped), Verdict::TRANSIENT.ambiguous());
/// ```
pub fn transient_io<E: Inspect<Via> + ?Sized, Via>(error: &E) -> Verdict {
    error.inspected().verdict(by_cause::connection_verdict)
}

/// Like [`cause`], but also retries conflicts between transactions. Use it for functions that are a whole transaction,
/// from `BEGIN` to `COMMIT`.
///
/// A conflict is a serialization failure (SQLSTATE 40001) or a deadlock (40P01) of sqlx, and `Aborted` of tonic. The
/// database has rolled back the whole transaction, so repeating only its last statement would lose the others. That is
/// why all other functions stop on a conflict.
///
/// ```no_run
/// # #[cfg(feature = "sqlx_0_9")] mod example {
/// use retry_runtime::{on, retry};
///
/// #[retry(max = 5, base = "20ms", on = on::transaction)]
/// async fn transfer(amount: i64) -> Result<(), sqlx::Error> {
///     // let mut transaction = pool.begin().await?;
///     // … transaction.commit().await
/// #   Ok(())
/// }
/// # }
/// ```
pub fn transaction<E: Inspect<Via> + ?Sized, Via>(error: &E) -> Verdict {
    error.inspected().verdict(by_cause::transaction_verdict)
}

/// Retries failures with this text in their own message or in a source's, ignoring case. All other failures stop.
///
/// Use it with clients whose errors contain only a message. If the text means that the request was throttled, add
/// [`throttled`](Combine::throttled), which also reads the wait from the message. The text may also occur in another
/// sense (in a quoted prompt, for example), so prefer types and codes. An empty text matches every message.
///
/// ```
/// use retry_runtime::{Policy, on};
///
/// let mut attempts = 0;
/// let result = Policy::none().max(2).on(on::mentions("overloaded")).call_blocking(|| {
///     attempts += 1;
///     Err::<(), _>(String::from("529: Overloaded"))
/// });
/// assert_eq!(attempts, 3);
/// # assert!(result.is_err());
/// ```
pub fn mentions<E: Inspect<Via> + ?Sized, Via>(
    text: &str,
) -> impl Fn(&E) -> bool + use<'_, E, Via> {
    move |error: &E| {
        let found = |message: &str| contains(message, text).then_some(());
        error.inspected().find(found).is_some()
    }
}

// Inline, so that the search is compiled only in programs that call `mentions`.
#[inline]
fn contains(message: &str, text: &str) -> bool {
    message.to_lowercase().contains(&text.to_lowercase())
}

#[cfg(all(test, feature = "reqwest_middleware_0_5"))]
mod tests {
    use alloc::boxed::Box;
    use core::error::Error as StdError;

    use reqwest_middleware::Error;

    use crate::{Classify, Verdict, on};

    #[test]
    fn the_hidden_cause_decides_whether_to_retry() {
        let status = |code| {
            let response = http::Response::builder().status(code).body("").unwrap();
            let answer = reqwest_0_13::Response::from(response);
            answer.error_for_status().unwrap_err()
        };
        for (code, expected) in [
            (503, Verdict::TRANSIENT.ambiguous()),
            (429, Verdict::THROTTLED),
            (404, Verdict::STOP),
        ] {
            let in_middleware = anyhow::Error::from(status(code)).context("refreshing a token");
            let hidden = Error::Middleware(in_middleware);
            assert_eq!(hidden.classify(), expected, "{code}");
            let error = || Error::Reqwest(status(code));
            assert_eq!(error().classify(), expected, "{code}");
            assert_eq!(on::cause(&error()), expected, "{code}");
            assert_eq!(on::http(&error()), expected, "{code}");
            assert_eq!(anyhow::Error::from(error()).classify(), expected, "{code}");
            let boxed: Box<dyn StdError + Send + Sync> = error().into();
            assert_eq!(boxed.classify(), expected, "{code}");
        }
    }
}
