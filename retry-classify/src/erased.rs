use core::error::Error;

use crate::by_cause::by_cause;
use crate::{Classify, Verdict};

macro_rules! classify_by_cause {
    ($($error:ty),*) => {$(
        /// Classifies by the cause: the error and then its sources are searched for a type that this crate knows, and
        /// the first one found decides. The known types are [`std::io::Error`], [`TimedOut`](crate::TimedOut), the
        /// `Elapsed` of tokio and tower, tower's `Overloaded`, the error types of all enabled clients, and those
        /// registered with `on::known`; also boxed or shared. If none is found, the call stops.
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
        /// let error: Box<dyn Error + Send + Sync> = "a text says nothing".into();
        /// assert_eq!(error.classify(), Verdict::STOP);
        /// ```
        ///
        /// Your own type inside is found only if it is registered with `on::known`, even if it derives `Classify`.
        /// Alternatively, name it with [`on = on::is::<Busy>`](crate::on::is). If no type is found, the log warns once
        /// per function, with the target `retry::classify`. An `anyhow::Error` that is converted to a `Box` (by `?`,
        /// for example) hides its outermost error, even from `downcast_ref`: add a `context`, or keep the
        /// `anyhow::Error`.
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

/// Classifies by the cause, like a `Box<dyn Error + Send + Sync>`.
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

/// Classifies reqwest's own error, or the first source of a known type in a middleware's error, including that of
/// `reqwest-retry` after its own retries.
#[cfg(feature = "reqwest_middleware_0_5")]
#[diagnostic::do_not_recommend]
impl Classify for reqwest_middleware::Error {
    fn classify(&self) -> Verdict {
        by_cause(crate::sources::within(self), Verdict::UNKNOWN)
    }

    describe_with_causes!();
}

#[cfg(all(test, feature = "reqwest_middleware_0_5"))]
mod tests {
    use alloc::boxed::Box;
    use core::error::Error as StdError;

    use reqwest_middleware::Error;

    use crate::{Classify, Verdict, on};

    #[test]
    fn what_it_hides_says_whether_to_retry() {
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
