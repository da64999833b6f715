use core::error::Error;

use super::by_cause::by_default;
use crate::classify::{Classify, Verdict};

macro_rules! classify_by_cause {
    ($($error:ty),*) => {$(
        /// Classifies by the cause: the error and then its sources are searched for a type that
        /// this crate knows, and the first one found decides. The known types are
        /// [`std::io::Error`], [`TimedOut`](crate::TimedOut), the `Elapsed` of tokio and tower,
        /// tower's `Overloaded`, the error types of all enabled clients, and those that `on::known`
        /// was told of; also boxed or shared. If there is none, stop.
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
        /// A type of your own inside is found only if `on::known` was told of it, even if it derives `Classify`. Or name
        /// it with [`on = on::is::<Busy>`](crate::on::is). If no type is found, the log says so at `WARN`, once for each function, with the target
        /// `retry::classify`. An `anyhow::Error` that becomes a `Box` (by `?`, say) hides its outermost error, even from
        /// `downcast_ref`:
        /// give it a `context`, or stay with `anyhow`.
        #[diagnostic::do_not_recommend]
        impl Classify for $error {
            fn classify(&self) -> Verdict {
                by_default(self)
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
        by_default(self.as_ref())
    }

    fn describe(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        crate::error_text::chain::write_error(self.as_ref(), f)
    }
}
