//! The errors of calls that end without an attempt's error: their verdicts, and their conversions to `io::Error`.

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
    /// Not retried, because the caller cancelled the call. Nor is it a response from a server.
    Cancelled => CANCELLED, Other;
    /// Not retried: breakers and limiters decide themselves when to try again. Nor is it a response from a server, so
    /// the protections of an outer call ignore it.
    Rejected => REJECTED, Other;
    TimedOut => TIMEOUT, TimedOut;
}
