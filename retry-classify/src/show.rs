//! Formatting of errors: functions for `PolicyCall::show`, and the setting that hides secrets.

use core::error::Error;
use core::fmt;

use crate::error_text::{chain, secrets};

/// Shows an error and its causes, as `outer: cause: cause`.
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

/// Sets whether possible secrets in errors and names are hidden, from now on in the whole program. `true` by default.
///
/// Pass `false` only if everything that shows errors may contain secrets: logs, metrics, saved plans. Texts are still
/// escaped and truncated. For what counts as a secret, see "Seeing what happens" in `retry-runtime`'s guide.
///
/// ```
/// use retry_runtime::{Policy, show, testing};
///
/// let recording = testing::record();
/// let fails = || Err::<(), _>(String::from("password=hunter2 is wrong"));
/// let policy = Policy::none().max(0).name("login").on(|_: &String| true);
/// let call = || policy.clone().show(std::fmt::Display::fmt).call_blocking(fails);
///
/// let _ = call();
/// show::hide_secrets(false);
/// let _ = call();
/// assert_eq!(
///     recording.lines(),
///     [
///         "gave up login attempt=1 max=0 error=password=… is wrong reason=exhausted",
///         "gave up login attempt=1 max=0 error=password=hunter2 is wrong reason=exhausted",
///     ],
/// );
/// ```
pub fn hide_secrets(are_hidden: bool) {
    secrets::set_shown(!are_hidden);
}
