use core::error::Error;
use core::fmt;

use crate::{Classify, Verdict};

/// No attempt was made: the `breaker` is open, or its turn with the `limiter` did not come in time.
///
/// A function with a `breaker` or a `limiter` needs an error type that is `From<Rejected>`. `std::io::Error`,
/// `Box<dyn Error>` and `anyhow::Error` are. For your own type, write the impl:
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rejected {
    by: RejectedBy,
}

/// The reason that an attempt was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RejectedBy {
    /// The `breaker` is open.
    Breaker,
    /// The `limiter` would have made the attempt wait longer than its `max_wait`, or never lets it begin.
    Limiter,
    /// The queue of the `limiter` was full.
    Full,
    /// The attempt would have waited for its turn beyond the call's `deadline`.
    Deadline,
    /// The call was cancelled while it waited for its turn.
    Cancelled,
}

impl Rejected {
    /// A rejection, to build an error in a test.
    pub const fn new(by: RejectedBy) -> Self {
        Self { by }
    }

    /// The reason that the attempt was rejected.
    pub const fn by(self) -> RejectedBy {
        self.by
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.by {
            RejectedBy::Breaker => "rejected by an open circuit breaker",
            RejectedBy::Limiter => "rejected by the limiter",
            RejectedBy::Full => "rejected: too many calls wait already",
            RejectedBy::Deadline => "rejected: its turn comes after its deadline",
            RejectedBy::Cancelled => "cancelled while it waited for its turn",
        })
    }
}

impl Error for Rejected {}

/// Not worth a retry: breakers and limiters decide themselves when to try again. It is not an answer of a
/// server either, so the protections of an outer call ignore it.
impl Classify for Rejected {
    fn classify(&self) -> Verdict {
        Verdict::REJECTED
    }

    describe_with_causes!();
}
