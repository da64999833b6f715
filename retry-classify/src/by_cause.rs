//! Classifies an error by its causes: the first cause of a known type decides. Type-erased errors, such as
//! `Box<dyn Error>`, can be classified only this way.

use core::error::Error;

#[cfg(feature = "std")]
use crate::registry::registered;

use crate::transport::io_verdict;
use crate::{Classify, Verdict, sources};

/// Returns the verdict on the first cause of a known type, or `otherwise` if there is none. [`Verdict::UNKNOWN`] causes
/// a warning in the log, because the user may have expected one of their own types to be found.
pub(crate) fn by_cause(error: &(dyn Error + 'static), otherwise: Verdict) -> Verdict {
    sources::causes(error).find_map(lookup).unwrap_or(otherwise)
}

/// Returns the first verdict. A row has a feature, an error type that needs the feature, and a function for the type.
macro_rules! first_of {
    ($cause:ident: $($feature:literal $type:ty => $verdict:expr,)*) => {$(
        #[cfg(feature = $feature)]
        if let Some(verdict) = sources::downcast::<$type>($cause).map($verdict).and_then(Into::into) {
            return Some(verdict);
        }
    )*};
}

/// The verdict on a cause. `None` if the cause's type is unknown, or if the cause only wraps another error.
pub(crate) fn lookup(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    #[cfg(feature = "std")]
    if let Some(verdict) = registered(cause) {
        return Some(verdict);
    }
    #[cfg(feature = "http")]
    if let Some(verdict) = http_verdict(cause) {
        return Some(verdict);
    }
    first_of!(cause:
        "llm" crate::llm::ProviderError => Classify::classify,
        "redis_1" ::redis::RedisError => Classify::classify,
        "sqlx_0_9" ::sqlx::Error => Classify::classify,
        "tonic_0_14" ::tonic::Status => Classify::classify,
        "tonic_transport_0_14" ::tonic::transport::Error => Classify::classify,
    );
    io_verdict(cause)
}

/// The verdict on a cause that reports a failed connection. A cause that contains a response stops the call.
pub(crate) fn connection_verdict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "reqwest_0_12" reqwest_0_12::Error => |error| error.is_status().then_some(Verdict::STOP),
        "reqwest_0_13" reqwest_0_13::Error => |error| error.is_status().then_some(Verdict::STOP),
        "ureq_3" ::ureq::Error => |error| {
            matches!(error, ::ureq::Error::StatusCode(_)).then_some(Verdict::STOP)
        },
        "http" crate::ResponseError => |_| Some(Verdict::STOP),
        // redis doesn't expose the I/O error as a source.
        "redis_1" ::redis::RedisError => |error| {
            error.is_io_error().then(|| Classify::classify(error))
        },
    );
    #[cfg(feature = "http")]
    if let Some(verdict) = http_verdict(cause) {
        return Some(verdict);
    }
    io_verdict(cause)
}

#[cfg(feature = "http")]
pub(crate) fn http_verdict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "hyper_util_0_1" hyper_util::client::legacy::Error => Classify::classify,
        "hyper" ::hyper::Error => |error| crate::clients::connection::request_verdict(error),
        "reqwest_0_12" reqwest_0_12::Error => Classify::classify,
        "reqwest_0_13" reqwest_0_13::Error => Classify::classify,
        "ureq_3" ::ureq::Error => Classify::classify,
        "http" crate::ResponseError => Classify::classify,
    );
    None
}

/// The verdict on a cause if the retried function is a whole transaction: repeating the function resolves a conflict
/// with another transaction.
pub(crate) fn transaction_verdict(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    first_of!(cause:
        "sqlx_0_9" ::sqlx::Error => |error| {
            crate::clients::sqlx::is_conflict(error).then_some(Verdict::TRANSIENT)
        },
        "tonic_0_14" ::tonic::Status => crate::clients::tonic::classify_transaction,
    );
    lookup(cause)
}

macro_rules! classify_by_cause {
    ($($error:ty),*) => {$(
        /// Classifies by the causes: searches the error, then its sources, for a known type, and the first one found
        /// decides. The known types, even in a `Box` or `Arc`, are [`std::io::Error`], [`TimedOut`](crate::TimedOut),
        /// the `Elapsed` of tokio and tower, tower's `Overloaded`, the error types of all enabled clients, and types
        /// registered with `on::known`. If no known type is found, the call stops.
        ///
        /// ```
        /// use std::error::Error;
        /// use std::io;
        /// use retry_runtime::{Classify, Verdict};
        ///
        /// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        /// let error: Box<dyn Error + Send + Sync> = refused.into();
        /// assert_eq!(error.classify(), Verdict::TRANSIENT);
        ///
        /// let error: Box<dyn Error + Send + Sync> = "an unknown text".into();
        /// assert_eq!(error.classify(), Verdict::STOP);
        /// ```
        ///
        /// Your own types inside the error are found only if you register them with `on::known`, even if they derive
        /// `Classify`. Alternatively, set [`on = on::is::<Busy>`](crate::on::is). If no known type is found, the log
        /// contains a warning once per function, with the target `retry::classify`. An `anyhow::Error` that is
        /// converted to a `Box` (by `?`, for example) hides its outermost error, even from `downcast_ref`: add a
        /// `context`, or keep the `anyhow::Error`.
        #[diagnostic::do_not_recommend]
        impl Classify for $error {
            fn classify(&self) -> Verdict {
                by_cause(self, Verdict::UNKNOWN)
            }

            describe_with_causes!();
        }
    )*};
}

classify_by_cause!(
    dyn Error,
    dyn Error + Send,
    dyn Error + Sync,
    dyn Error + Send + Sync
);

/// Classifies by the causes, like a `Box<dyn Error + Send + Sync>`.
#[cfg(feature = "anyhow_1")]
#[diagnostic::do_not_recommend]
impl Classify for anyhow::Error {
    fn classify(&self) -> Verdict {
        by_cause(self.as_ref(), Verdict::UNKNOWN)
    }

    fn describe(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        crate::error_text::chain::write_error(self.as_ref(), f)
    }
}

/// Classifies reqwest's own error, or the first source of a known type in a middleware's error, including the error
/// that `reqwest-retry` returns after its own retries.
#[cfg(feature = "reqwest_middleware_0_5")]
#[diagnostic::do_not_recommend]
impl Classify for reqwest_middleware::Error {
    fn classify(&self) -> Verdict {
        by_cause(sources::inner_error(self), Verdict::UNKNOWN)
    }

    describe_with_causes!();
}
