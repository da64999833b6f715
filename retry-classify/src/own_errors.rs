//! Verdicts on the errors of calls that end without an attempt's error, and conversions of these errors to `io::Error`.

use core::error::Error;

use crate::{Cancelled, Classify, Rejected, TimedOut, Verdict};

macro_rules! own_errors {
    ($($(#[$doc:meta])* $error:ident => $verdict:ident, $kind:ident;)*) => {$(
        impl Error for $error {}

        $(#[$doc])*
        impl Classify for $error {
            fn classify(&self) -> Verdict {
                Verdict::$verdict
            }

            describe_with_causes!();
        }

        #[cfg(feature = "std")]
        impl From<$error> for std::io::Error {
            fn from(error: $error) -> Self {
                Self::new(std::io::ErrorKind::$kind, error)
            }
        }
    )*};
}

own_errors! {
    /// Not retried, because the caller cancelled the call. The protections of an outer call ignore this error.
    Cancelled => CANCELLED, Other;
    /// Not retried, because breakers and limiters decide when to try again. A rejection is not a response from a
    /// server, so the protections of an outer call ignore this error.
    Rejected => REJECTED, Other;
    TimedOut => TIMEOUT, TimedOut;
}
