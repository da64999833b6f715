use std::io;

use crate::{TimedOut, Verdict};

#[cfg(feature = "http")]
mod http;
#[cfg(any(feature = "reqwest_0_12", feature = "reqwest_0_13"))]
mod reqwest;
#[cfg(feature = "http")]
pub(crate) mod retry_after;

/// An error type that knows which of its failures are worth a retry. Where a function names no `on`, its
/// error type is classified by this.
///
/// Derive it, or write it:
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
/// An error type of another crate can't implement it: name a function with `on` instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which failures are worth a retry",
    label = "the error type of this function is not `Classify`",
    note = "name a function with `on = …`, or put `#[derive(retry_runtime::Classify)]` on `{Self}`"
)]
pub trait Classify {
    /// Whether this failure is worth a retry, as which kind, after which hint.
    fn classify(&self) -> Verdict;
}

impl<E: Classify + ?Sized> Classify for &E {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }
}

impl<E: Classify + ?Sized> Classify for Box<E> {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }
}

impl<E: Classify + ?Sized> Classify for std::sync::Arc<E> {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }
}

impl Classify for TimedOut {
    fn classify(&self) -> Verdict {
        Verdict::TIMEOUT
    }
}

/// A refused connection is transient. One that broke (reset, aborted, broken pipe, unexpected end) is
/// transient and ambiguous, a timeout is a timeout, and all else stops.
impl Classify for io::Error {
    fn classify(&self) -> Verdict {
        self.kind().classify()
    }
}

impl Classify for io::ErrorKind {
    fn classify(&self) -> Verdict {
        match self {
            Self::ConnectionRefused => Verdict::TRANSIENT,
            Self::ConnectionReset
            | Self::ConnectionAborted
            | Self::BrokenPipe
            | Self::UnexpectedEof => Verdict::TRANSIENT.ambiguous(),
            Self::TimedOut => Verdict::TIMEOUT,
            _ => Verdict::STOP,
        }
    }
}
