use core::time::Duration;

use crate::classify::kind::Kind;

/// An attempt that failed, of a call that gave up: what [`GaveUp::failures`](crate::GaveUp::failures) yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedAttempt<'a, E> {
    /// The number of the attempt, from 1. `None` if it failed beside others that went on, by the key `hedge`.
    pub number: Option<u32>,
    /// How long after the start of the call it began. `None` if the key `hedge` began others beside it, or if nobody
    /// asked for the time, see [`failures`](crate::GaveUp::failures).
    pub began: Option<Duration>,
    /// What sort of failure it was. `None` if it was not worth a retry, or as for `number`.
    pub kind: Option<Kind>,
    /// The pause after it. `None` if the call ended before one.
    pub pause: Option<Duration>,
    /// The error.
    pub error: &'a E,
}
