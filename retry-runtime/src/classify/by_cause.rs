use alloc::format;
use alloc::string::ToString;
use core::error::Error;
#[cfg(feature = "std")]
use std::io;

#[cfg(feature = "std")]
use super::registry::registered;
#[cfg(feature = "http")]
use super::response_error::ResponseError;
#[cfg(feature = "std")]
use super::sources::is_wrapper;
use super::sources::{causes, is};
use crate::classify::{Cancelled, Classify, Rejected, TimedOut, Verdict};

/// What the first cause of a known type says.
#[cfg(feature = "std")]
pub(crate) fn by_cause(error: &(dyn Error + 'static)) -> Verdict {
    causes(error).find_map(known).unwrap_or(Verdict::STOP)
}

/// Like [`by_cause`], where the function names no `on`. If no cause has such a type, the call's log says so, since one of the
/// user's own may have been meant.
pub(crate) fn by_default(error: &(dyn Error + 'static)) -> Verdict {
    causes(error).find_map(known).unwrap_or(Verdict::UNKNOWN)
}

/// Returns the verdict if the cause is of one of these types, each of which comes with a feature.
macro_rules! of_types {
    ($cause:ident: $($feature:literal $type:ty,)*) => {$(
        #[cfg(feature = $feature)]
        if let Some(verdict) = of::<$type>($cause) {
            return Some(verdict);
        }
    )*};
}

/// `None` if the cause has no known type or only wraps another.
pub(super) fn known(cause: &(dyn Error + 'static)) -> Option<Verdict> {
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

pub(super) fn of_io(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "std")]
    if let Some(io) = is::<io::Error>(cause).filter(|io| !is_wrapper(io)) {
        return Some(io.classify());
    }
    #[cfg(feature = "tokio")]
    if is::<::tokio::time::error::Elapsed>(cause).is_some() {
        return Some(Verdict::TIMEOUT);
    }
    of::<TimedOut>(cause)
        .or_else(|| of::<Rejected>(cause))
        .or_else(|| of::<Cancelled>(cause))
        .or_else(|| by_text(cause))
}

const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();

/// What h2's errors say with the reasons of which more is known than that the connection broke.
pub(super) fn of_reset(said: &str) -> Option<Verdict> {
    let (whose, reason) = said.split_once(" error received: ")?;
    let is = |text| reason.starts_with(text);
    match whose {
        // The server did not process the request (RFC 9113, section 8.7): the stream was refused, or is above the last one that
        // a connection which shuts down still serves.
        "stream" if is("refused stream before processing") => Some(Verdict::TRANSIENT),
        "connection" if is("not a result of an error") => Some(Verdict::TRANSIENT),
        // It takes the client's load for an attack: `ENHANCE_YOUR_CALM`.
        "stream" | "connection" if is("detected excessive load") => {
            Some(Verdict::THROTTLED.ambiguous())
        }
        // No retry over the same protocol heals that: `HTTP_1_1_REQUIRED` and `INADEQUATE_SECURITY`.
        "stream" | "connection" if is("endpoint requires HTTP/1.1") => Some(Verdict::STOP),
        "stream" | "connection" if is("security properties do not meet") => Some(Verdict::STOP),
        _ => None,
    }
}

/// Errors of crates that this one does not depend on, or whose types are not public: how their `Debug` begins, a part of
/// their `Display`, and the verdict.
const BY_TEXT: [(&str, &str, Verdict); 9] = [
    // tower's `timeout` and `load_shed`; tower-http's `timeout`
    ("Elapsed(())", "request timed out", Verdict::TIMEOUT),
    ("Overloaded", "service overloaded", Verdict::THROTTLED),
    (
        "TimeoutError(())",
        "data was not received within",
        Verdict::TIMEOUT,
    ),
    // what tonic's channels and reqwest end a request with
    ("TimeoutExpired(())", "Timeout expired", Verdict::TIMEOUT),
    ("TimedOut", "operation timed out", Verdict::TIMEOUT),
    // h2
    ("Error { kind: Reset(", "stream error received: ", BROKEN),
    (
        "Error { kind: GoAway(",
        "connection error received: ",
        BROKEN,
    ),
    // rustls, native-tls
    (
        "AlertReceived(InternalError)",
        "received fatal alert",
        BROKEN,
    ),
    ("Ssl(", "unexpected eof while reading", BROKEN),
];
fn by_text(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    let said = cause.to_string();
    if let Some(verdict) = of_reset(&said) {
        return format!("{cause:?}")
            .starts_with("Error { kind: ")
            .then_some(verdict);
    }
    let (.., verdict) = BY_TEXT
        .iter()
        .find(|(debug, part, _)| said.contains(part) && format!("{cause:?}").starts_with(debug))?;
    Some(*verdict)
}

pub(super) fn of_connection(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "http")]
    if is_answer(cause) {
        return Some(Verdict::STOP);
    }
    #[cfg(feature = "http")]
    if let Some(verdict) = of_http(cause) {
        return Some(verdict);
    }
    // It does not show the I/O error as a source.
    #[cfg(feature = "redis_1")]
    if let Some(redis) = is::<::redis::RedisError>(cause) {
        return redis.is_io_error().then(|| redis.classify());
    }
    of_io(cause)
}

/// Whether an HTTP client got an answer, and only its status is bad.
#[cfg(feature = "http")]
fn is_answer(cause: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "reqwest_0_12")]
    if is::<reqwest_0_12::Error>(cause).is_some_and(reqwest_0_12::Error::is_status) {
        return true;
    }
    #[cfg(feature = "reqwest_0_13")]
    if is::<reqwest_0_13::Error>(cause).is_some_and(reqwest_0_13::Error::is_status) {
        return true;
    }
    #[cfg(feature = "ureq_3")]
    if is(cause).is_some_and(|ureq| matches!(ureq, ::ureq::Error::StatusCode(_))) {
        return true;
    }
    is::<ResponseError>(cause).is_some()
}

#[cfg(feature = "http")]
pub(super) fn of_http(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    of_types!(cause: "hyper_util_0_1" hyper_util::client::legacy::Error,);
    #[cfg(any(
        feature = "hyper_util_0_1",
        feature = "reqwest_0_12",
        feature = "reqwest_0_13",
        feature = "tonic_0_14"
    ))]
    if let Some(hyper) = is::<::hyper::Error>(cause) {
        return Some(super::clients::connection::of_open_connection(hyper));
    }
    of_types!(cause:
        "reqwest_0_12" reqwest_0_12::Error,
        "reqwest_0_13" reqwest_0_13::Error,
        "ureq_3" ::ureq::Error,
    );
    of::<ResponseError>(cause)
}

/// The verdict on a cause, if the function is a whole transaction.
pub(super) fn of_transaction(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    conflict(cause).or_else(|| known(cause))
}

/// A conflict between two transactions. Only running one of them again as a whole resolves it.
fn conflict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "sqlx_0_9")]
    if is(cause).is_some_and(super::clients::sqlx::is_conflict) {
        return Some(Verdict::TRANSIENT);
    }
    #[cfg(feature = "tonic_0_14")]
    if let Some(status) = is(cause) {
        return Some(super::clients::tonic::in_transaction(status));
    }
    let _ = cause;
    None
}

fn of<T: Classify + Error + 'static>(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    is::<T>(cause).map(Classify::classify)
}
