use core::time::Duration;

use retry_classify::Kind;

/// A failed attempt of a call that gave up, from [`GaveUp::failures`](crate::GaveUp::failures).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedAttempt<'a, E> {
    /// The number of the attempt, from 1. `None` if the attempt failed while others went on, with the key `hedge`.
    pub number: Option<u32>,
    /// The start of the attempt, measured from the start of the call. `None` if the key `hedge` started others next to
    /// it, or if the clock was not read, see [`failures`](crate::GaveUp::failures).
    pub began: Option<Duration>,
    /// The kind of failure. `None` if it is not retried, or if `number` is `None`.
    pub kind: Option<Kind>,
    /// The pause after it. `None` if the call ended before one.
    pub pause: Option<Duration>,
    /// The error.
    pub error: &'a E,
}
