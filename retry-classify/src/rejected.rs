use core::fmt;

/// The attempt did not start: the `breaker` is open, or the `limiter` did not admit the attempt in time.
///
/// A function with a `breaker` or a `limiter` needs an error type that implements `From<Rejected>`. `std::io::Error`,
/// `Box<dyn Error>` and `anyhow::Error` do. For your own type, write the impl:
///
/// ```
/// use retry_protections::Breaker;
/// use retry_runtime::{Rejected, retry};
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

/// The reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RejectedBy {
    /// The `breaker` is open.
    Breaker,
    /// The attempt would have waited longer than the `max_wait` of the `limiter`, or the `limiter` can never admit it.
    Limiter,
    /// The queue of the `limiter` was full.
    Full,
    /// The attempt would have waited past the call's `deadline`.
    Deadline,
    /// The call was cancelled while it waited for the limiter.
    Cancelled,
}

impl Rejected {
    /// Creates a rejection, for example in a test.
    pub const fn new(by: RejectedBy) -> Self {
        Self { by }
    }

    /// The reason for the rejection.
    pub const fn by(self) -> RejectedBy {
        self.by
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.by {
            RejectedBy::Breaker => "rejected by an open circuit breaker",
            RejectedBy::Limiter => "rejected by the limiter",
            RejectedBy::Full => "rejected: too many calls are already waiting",
            RejectedBy::Deadline => "rejected: its turn comes after its deadline",
            RejectedBy::Cancelled => "cancelled while it waited for its turn",
        })
    }
}
