//! Ready-made functions that show errors, for [`PolicyCall::show`](crate::PolicyCall::show).

use core::error::Error;
use core::fmt;

use crate::error_text::chain;

/// Shows an error with what caused it, as `outer: cause: cause`.
///
/// ```
/// use std::io;
/// use retry_runtime::{Policy, show, testing};
///
/// let recording = testing::record();
/// let _ = Policy::none()
///     .max(0)
///     .name("read")
///     .on(|_: &io::Error| true)
///     .show(show::with_causes)
///     .call_blocking(|| Err::<(), _>(io::Error::other("no such shard")));
/// assert_eq!(
///     recording.lines(),
///     ["gave up read attempt=1 max=0 error=no such shard reason=exhausted"],
/// );
/// ```
pub fn with_causes<E: Error>(error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    chain::write(f, error, None, error.source())
}
