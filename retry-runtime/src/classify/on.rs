//! Functions for the key `on` and for [`Policy::on`](crate::Policy::on): which failures are worth a retry.
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
//! | [`cause`] | what the error, or the first of its sources that is of a known type, says |
//! | `http`, with that feature | as `cause`, but only statuses and failures of HTTP clients |
//! | [`transient_io`] | connections that were refused, broke or timed out |
//! | [`transaction`] | as `cause`, and conflicts of transactions |
//! | [`mentions`] | failures whose message has that text |
//!
//! All take every error that is [`Error`](std::error::Error) and `'static`, the `Box`es of `dyn Error`, `anyhow::Error` (with
//! its feature), and texts. [`Combine`] joins them with each other and with functions of your own.

mod combine;
mod inspect;

pub use combine::Combine;
pub use inspect::Inspect;

use crate::classify::verdict::Verdict;
use crate::classify::{by_cause, sources};

/// Every failure is worth a retry, as [`Verdict::TRANSIENT`].
///
/// For operations that fail by chance alone. Next to a service it retries bad requests and unpaid bills, too: begin
/// with [`cause`], or leave out what never heals, as in `on::any.except(on::mentions("insufficient_quota"))`.
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
pub fn any<E: ?Sized>(_error: &E) -> Verdict {
    Verdict::TRANSIENT
}

/// What the error or one of its sources says: they are gone through from the outside, and the first that is of a
/// type this crate knows decides. Where there is none, stop.
///
/// Known are [`std::io::Error`], [`TimedOut`](crate::TimedOut), `ResponseError`, and the error types
/// of the clients whose features are enabled, also in a `Box` or `Arc`. So an enum of `#[from]` variants needs
/// nothing else, if they have a message each: a variant under `#[error(transparent)]` passes itself off as the error
/// inside, which is no source of it then and can't be found. Derive [`Classify`](crate::Classify) for such an enum, with
/// `#[classify(transparent)]`.
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
    error.error().map_or(Verdict::STOP, by_cause::by_cause)
}

/// As [`cause`], but only statuses and the failures of HTTP clients: [`ResponseError`](crate::ResponseError), reqwest,
/// hyper-util and ureq. All else stops.
///
/// ```
/// use std::error::Error;
/// use http::{HeaderMap, StatusCode};
/// use retry_runtime::{ResponseError, Verdict, on};
///
/// let error = ResponseError::new(StatusCode::BAD_GATEWAY, HeaderMap::new(), "");
/// let error: Box<dyn Error + Send + Sync> = error.into();
/// assert_eq!(on::http(&error), Verdict::TRANSIENT);
/// ```
#[cfg(feature = "http")]
pub fn http<E: Inspect<Via> + ?Sized, Via>(error: &E) -> Verdict {
    error.error().map_or(Verdict::STOP, by_cause::by_http)
}

/// Connections that were refused, broke or timed out: as [`cause`], but only what a [`std::io::Error`], a
/// [`TimedOut`](crate::TimedOut) or a client says of its connection. All else stops, statuses and other answers too.
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
    error.error().map_or(Verdict::STOP, by_cause::by_connection)
}

/// As [`cause`], and a conflict of transactions is retried, too: for functions that are a whole transaction, from
/// `BEGIN` to `COMMIT`.
///
/// A conflict is a serialization failure (SQLSTATE 40001) or a deadlock (40P01) of sqlx, and `Aborted` of tonic. The
/// database has undone the whole transaction, so that repeating its last statement alone would lose the others;
/// elsewhere these stop.
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
    error
        .error()
        .map_or(Verdict::STOP, by_cause::in_transaction)
}

/// Failures that have this text in their message or in that of a source, whatever the case, are worth a retry, as
/// [`Verdict::TRANSIENT`]. All else stops.
///
/// For clients that keep nothing but a message. A text can turn up where it means something else (a prompt that is
/// quoted, say), so prefer types and codes where there are any. An empty text is in every message.
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
) -> impl Fn(&E) -> Verdict + use<'_, E, Via> {
    move |error: &E| {
        let has = |message: String| contains(&message, text);
        let found = match error.error() {
            Some(error) => sources::causes(error).any(|cause| has(cause.to_string())),
            None => error.text().is_some_and(|message| contains(message, text)),
        };
        Verdict::from(found)
    }
}

// Inline, so that the search is compiled only where `mentions` is called.
#[inline]
fn contains(message: &str, text: &str) -> bool {
    message.to_lowercase().contains(&text.to_lowercase())
}
