use core::time::Duration;

use retry_classify::Kind;

/// The outcome of an attempt, as breakers and limiters see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The server answered: with a value, even one that `until` or `validate` rejected, or with an error that is not
    /// worth a retry.
    Success,
    /// The attempt failed.
    Failure {
        /// The kind: `Transient`, `Throttled` or `Timeout`.
        kind: Kind,
        /// The wait that the server asked for.
        hint: Option<Duration>,
    },
    /// Unknown: the error was not classified.
    Ignored,
    /// The attempt never began, or a breaker or a limiter inside the operation rejected it. Its charge is refunded.
    NotBegun,
    /// The attempt was dropped or panicked.
    Dropped,
}
