use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::type_name;
use core::fmt;

use crate::Verdict;

/// An error type that decides which of its failures are retried. Functions without `on` require this trait.
///
/// Derive it, or implement it:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Classify, Verdict};
///
/// #[derive(Debug, Classify)]
/// enum ModelError {
///     #[classify(throttled, after = retry_after)]
///     RateLimited { retry_after: Option<Duration> },
///     #[classify(transient)]
///     Overloaded,
///     #[classify(timeout)]
///     NoAnswer,
///     #[classify(transparent)]
///     Io(std::io::Error),
///     #[classify(stop)]
///     Unauthorized,
/// }
///
/// let error = ModelError::RateLimited { retry_after: Some(Duration::from_secs(2)) };
/// assert_eq!(error.classify(), Verdict::THROTTLED.after(Duration::from_secs(2)));
/// ```
///
/// For an error type of another crate that isn't listed below, set `on` to a function from [`on`](crate::on) or to your
/// own.
#[diagnostic::on_unimplemented(
    message = "nothing decides which `{Self}` errors to retry",
    label = "the error type `{Self}` is not `Classify`",
    note = "put `#[derive(retry_runtime::Classify)]` on `{Self}`, or decide with `on`, as in `on = |error| …` or `.on(|error: &{Self}| …)`",
    note = "errors of `anyhow` and of many clients implement `Classify` with a feature of `retry-runtime`, such as `anyhow_1`"
)]
pub trait Classify {
    /// Returns the verdict on this failure: stop, or retry, with its kind and the server's hint.
    fn classify(&self) -> Verdict;

    /// Returns true if a retry can't produce a better value. If `validate` rejects a value with such an error, the call
    /// ends. `classify` is not called on errors from `validate`.
    ///
    /// The derive returns true for a variant or struct that is itself marked `#[classify(stop)]`, but not for the
    /// variants of a marked enum. `false` by default.
    ///
    /// ```
    /// use retry_runtime::{Classify, retry};
    ///
    /// #[derive(Debug, Classify)]
    /// enum AnswerError {
    ///     #[classify(invalid)]
    ///     Empty,
    ///     #[classify(stop)]
    ///     Filtered,
    /// }
    ///
    /// fn check(answer: &str) -> Result<(), AnswerError> {
    ///     match answer {
    ///         "" => Err(AnswerError::Empty),
    ///         "filtered" => Err(AnswerError::Filtered),
    ///         _ => Ok(()),
    ///     }
    /// }
    ///
    /// #[retry(validate = |answer| check(answer))]
    /// fn ask(answer: &str, asked: &mut u32) -> Result<String, AnswerError> {
    ///     *asked += 1;
    ///     Ok(answer.to_owned())
    /// }
    ///
    /// let mut asked = 0;
    /// assert!(ask("filtered", &mut asked).is_err());
    /// assert_eq!(asked, 1);
    /// assert!(ask("", &mut asked).is_err());
    /// assert_eq!(asked, 1 + 4);
    /// ```
    fn is_final(&self) -> bool {
        false
    }

    /// Writes the failure for the log. Functions with the attribute use it if the error type has no `Display`; chains,
    /// batches and plans always use it. The derive writes an `Error` with its causes. For other types, it uses
    /// `Display`, or else writes the variant's name (`ModelError::Overloaded`). The default writes the type's name,
    /// never the contents, which may be secret.
    ///
    /// To write more, derive `Classify` or implement this method:
    ///
    /// ```
    /// use std::fmt;
    /// use retry_runtime::{Classify, Verdict, retry, testing};
    ///
    /// #[derive(Debug)]
    /// struct Status(u16);
    ///
    /// impl Classify for Status {
    ///     fn classify(&self) -> Verdict {
    ///         (self.0 == 503).into()
    ///     }
    ///
    ///     fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    ///         fmt::Debug::fmt(self, f)
    ///     }
    /// }
    ///
    /// #[retry(name = "fetch")]
    /// fn fetch() -> Result<(), Status> {
    ///     Err(Status(404))
    /// }
    ///
    /// let recording = testing::record();
    /// assert!(fetch().is_err());
    /// assert_eq!(
    ///     recording.lines(),
    ///     ["gave up fetch attempt=1 max=3 error=Status(404) reason=not retryable"],
    /// );
    /// ```
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::macro_support::plain_name(type_name::<Self>()))
    }
}

macro_rules! classify_pointers {
    ($($pointer:ty),+) => {$(
        impl<T: Classify + ?Sized> Classify for $pointer {
            #[inline]
            fn classify(&self) -> Verdict {
                (**self).classify()
            }

            #[inline]
            fn is_final(&self) -> bool {
                (**self).is_final()
            }

            #[inline]
            fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).describe(f)
            }
        }
    )+};
}

classify_pointers!(&T, Box<T>, Arc<T>);
