//! The verdict on an error by its cause: the first cause of a known type decides.

use core::error::Error;

#[cfg(feature = "std")]
use crate::registry::registered;

use crate::transport::of_io;
use crate::{Verdict, sources};

/// The verdict on the first cause of a known type. If there is none, `otherwise`: [`Verdict::UNKNOWN`] if the call's log
/// should warn, because the user may have meant a type of their own.
pub(crate) fn by_cause(error: &(dyn Error + 'static), otherwise: Verdict) -> Verdict {
    sources::causes(error).find_map(known).unwrap_or(otherwise)
}

/// Returns the first verdict of these functions, each for a cause of its type, which needs a feature.
macro_rules! first_of {
    ($cause:ident: $($feature:literal $type:ty => $verdict:expr,)*) => {$(
        #[cfg(feature = $feature)]
        if let Some(verdict) = sources::is::<$type>($cause).map($verdict).and_then(Into::into) {
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
    first_of!(cause:
        "llm" crate::llm::ProviderError => crate::Classify::classify,
        "redis_1" ::redis::RedisError => crate::Classify::classify,
        "sqlx_0_9" ::sqlx::Error => crate::Classify::classify,
        "tonic_0_14" ::tonic::Status => crate::Classify::classify,
        "tonic_transport_0_14" ::tonic::transport::Error => crate::Classify::classify,
    );
    of_io(cause)
}

/// The verdict on a cause that reports a failed connection. Responses stop.
pub(crate) fn of_connection(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "reqwest_0_12" reqwest_0_12::Error => |error| error.is_status().then_some(Verdict::STOP),
        "reqwest_0_13" reqwest_0_13::Error => |error| error.is_status().then_some(Verdict::STOP),
        "ureq_3" ::ureq::Error => |error| {
            matches!(error, ::ureq::Error::StatusCode(_)).then_some(Verdict::STOP)
        },
        "http" crate::ResponseError => |_| Some(Verdict::STOP),
        // redis does not return the I/O error as a source.
        "redis_1" ::redis::RedisError => |error| {
            error.is_io_error().then(|| crate::Classify::classify(error))
        },
    );
    #[cfg(feature = "http")]
    if let Some(verdict) = of_http(cause) {
        return Some(verdict);
    }
    of_io(cause)
}

#[cfg(feature = "http")]
pub(crate) fn of_http(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "hyper_util_0_1" hyper_util::client::legacy::Error => crate::Classify::classify,
        "hyper" ::hyper::Error => |error| crate::clients::connection::of_open_connection(error),
        "reqwest_0_12" reqwest_0_12::Error => crate::Classify::classify,
        "reqwest_0_13" reqwest_0_13::Error => crate::Classify::classify,
        "ureq_3" ::ureq::Error => crate::Classify::classify,
        "http" crate::ResponseError => crate::Classify::classify,
    );
    None
}

/// The verdict on a cause when the function is a whole transaction: only rerunning the whole resolves a conflict with
/// another one.
pub(crate) fn of_transaction(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "sqlx_0_9" ::sqlx::Error => |error| {
            crate::clients::sqlx::is_conflict(error).then_some(Verdict::TRANSIENT)
        },
        "tonic_0_14" ::tonic::Status => crate::clients::tonic::in_transaction,
    );
    known(cause)
}
