//! The verdict on an error by its cause: the first cause of a known type decides.

use core::error::Error;

#[cfg(feature = "std")]
use crate::registry::registered;

use crate::transport::of_io;
use crate::{Verdict, sources};

/// The verdict on the first cause of a known type.
#[cfg(feature = "std")]
pub(crate) fn by_cause(error: &(dyn Error + 'static)) -> Verdict {
    sources::causes(error)
        .find_map(known)
        .unwrap_or(Verdict::STOP)
}

/// Like [`by_cause`], when the function has no `on`. If no cause has a known type, the call's log warns, because the
/// user may have meant a type of their own.
pub(crate) fn by_default(error: &(dyn Error + 'static)) -> Verdict {
    sources::causes(error)
        .find_map(known)
        .unwrap_or(Verdict::UNKNOWN)
}

/// Returns the verdict if the cause is one of these types, each of which needs a feature.
macro_rules! of_types {
    ($cause:ident: $($feature:literal $type:ty,)*) => {$(
        #[cfg(feature = $feature)]
        if let Some(verdict) = sources::of::<$type>($cause) {
            return Some(verdict);
        }
    )*};
}

/// `None` if the cause has no known type or only wraps another.
pub(crate) fn known(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "std")]
    if let Some(verdict) = registered(cause) {
        return Some(verdict);
    }
    #[cfg(feature = "http")]
    if let Some(verdict) = of_http(cause) {
        return Some(verdict);
    }
    of_types!(cause:
        "llm" crate::llm::ProviderError,
        "redis_1" ::redis::RedisError,
        "sqlx_0_9" ::sqlx::Error,
        "tonic_0_14" ::tonic::Status,
        "tonic_transport_0_14" ::tonic::transport::Error,
    );
    of_io(cause)
}

pub(crate) fn of_connection(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "http")]
    if is_answer(cause) {
        return Some(Verdict::STOP);
    }
    #[cfg(feature = "http")]
    if let Some(verdict) = of_http(cause) {
        return Some(verdict);
    }
    // redis does not return the I/O error as a source.
    #[cfg(feature = "redis_1")]
    if let Some(redis) = sources::is::<::redis::RedisError>(cause) {
        return redis
            .is_io_error()
            .then(|| crate::Classify::classify(redis));
    }
    of_io(cause)
}

/// Returns true if an HTTP client received a response, and only its status is bad.
#[cfg(feature = "http")]
fn is_answer(cause: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "reqwest_0_12")]
    if sources::is::<reqwest_0_12::Error>(cause).is_some_and(reqwest_0_12::Error::is_status) {
        return true;
    }
    #[cfg(feature = "reqwest_0_13")]
    if sources::is::<reqwest_0_13::Error>(cause).is_some_and(reqwest_0_13::Error::is_status) {
        return true;
    }
    #[cfg(feature = "ureq_3")]
    if sources::is(cause).is_some_and(|ureq| matches!(ureq, ::ureq::Error::StatusCode(_))) {
        return true;
    }
    sources::is::<crate::ResponseError>(cause).is_some()
}

#[cfg(feature = "http")]
pub(crate) fn of_http(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    of_types!(cause: "hyper_util_0_1" hyper_util::client::legacy::Error,);
    #[cfg(any(
        feature = "hyper_util_0_1",
        feature = "reqwest_0_12",
        feature = "reqwest_0_13",
        feature = "tonic_0_14"
    ))]
    if let Some(hyper) = sources::is::<::hyper::Error>(cause) {
        return Some(crate::clients::connection::of_open_connection(hyper));
    }
    of_types!(cause:
        "reqwest_0_12" reqwest_0_12::Error,
        "reqwest_0_13" reqwest_0_13::Error,
        "ureq_3" ::ureq::Error,
    );
    sources::of::<crate::ResponseError>(cause)
}

/// The verdict on a cause when the function is a whole transaction.
pub(crate) fn of_transaction(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    conflict(cause).or_else(|| known(cause))
}

/// A conflict between two transactions. Only rerunning one of them as a whole resolves it.
fn conflict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "sqlx_0_9")]
    if sources::is(cause).is_some_and(crate::clients::sqlx::is_conflict) {
        return Some(Verdict::TRANSIENT);
    }
    #[cfg(feature = "tonic_0_14")]
    if let Some(status) = sources::is(cause) {
        return Some(crate::clients::tonic::in_transaction(status));
    }
    let _ = cause;
    None
}
