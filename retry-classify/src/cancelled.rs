use core::fmt;

/// The key `abort` ended the call and dropped the attempt in flight.
///
/// A function with `abort` needs an error type that implements `From<Cancelled>`. `std::io::Error`, `Box<dyn Error>`
/// and `anyhow::Error` do. For your own type, write the impl:
///
/// ```
/// use std::future::ready;
/// use retry_runtime::{Cancelled, retry};
///
/// #[derive(Debug, PartialEq)]
/// enum ModelError {
///     Cancelled,
/// }
///
/// impl From<Cancelled> for ModelError {
///     fn from(_: Cancelled) -> Self {
///         Self::Cancelled
///     }
/// }
///
/// #[retry(abort = ready(()), on = |_| true)]
/// async fn complete() -> Result<String, ModelError> {
///     std::future::pending().await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(complete().await, Err(ModelError::Cancelled));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Cancelled;

impl Cancelled {
    /// Creates a cancellation, for example in a test.
    pub const fn new() -> Self {
        Self
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}
