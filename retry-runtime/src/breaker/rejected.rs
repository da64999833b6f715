use std::error::Error;
use std::fmt;
use std::io;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// No attempt was made, because the `breaker` is open.
///
/// A function with a `breaker` needs an error type that is `From<Rejected>`. `std::io::Error`, `Box<dyn Error>` and
/// `anyhow::Error` are. For your own type, write the impl:
///
/// ```
/// use retry_runtime::{Breaker, Rejected, retry};
///
/// static MODEL_API: Breaker = Breaker::new();
///
/// #[derive(Debug)]
/// enum ModelError {
///     Rejected(Rejected),
/// }
///
/// impl From<Rejected> for ModelError {
///     fn from(rejected: Rejected) -> Self {
///         Self::Rejected(rejected)
///     }
/// }
///
/// #[retry(breaker = &MODEL_API, on = |_| true)]
/// async fn complete() -> Result<String, ModelError> {
///     Ok(String::from("hello"))
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rejected;

impl Rejected {
    /// A rejection, for instance to build an error in a test.
    pub const fn new() -> Self {
        Self
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rejected by an open circuit breaker")
    }
}

impl Error for Rejected {}

/// Not worth a retry: the breaker has its own time to try again.
impl Classify for Rejected {
    fn classify(&self) -> Verdict {
        Verdict::STOP
    }
}

impl From<Rejected> for io::Error {
    fn from(rejected: Rejected) -> Self {
        Self::other(rejected)
    }
}
