use core::fmt;
use core::time::Duration;

use retry_classify::Kind;

use crate::observe::{Cause, Reason};

/// An event in a call.
///
/// `Display` prints an event on one line, with everything that the log contains about it:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Event, EventData, Kind};
///
/// let retrying = EventData::Retrying {
///     retry: 2,
///     retry_max: Some(3),
///     max: Some(5),
///     delay: Duration::from_millis(1200),
///     error: &"503 overloaded",
///     kind: Kind::Transient,
/// };
/// assert_eq!(
///     Event::new("model.complete", 4, retrying).to_string(),
///     "retrying model.complete attempt=4 max=5 retry=2 retry_max=3 delay=1.2s \
///      error=503 overloaded reason=transient",
/// );
/// ```
///
/// Errors may contain any text. An event shows them on one line, cut to 1 KiB, and without the parts of URLs that may
/// contain secrets: user info, query and fragment.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The call's name: the key `name`. A batch or a plan has one name; a subtask's name is `plan.subtask`.
    pub call: &'a str,
    /// The number of the event's attempt, from 1; 0 if no attempt was made. In a batch or a plan, each round is an
    /// attempt.
    ///
    /// If the key `hedge` made several attempts at once, this is the number of the attempt that won or, if all failed,
    /// of the last one that started. Attempts are counted from the last [progress](crate::Attempt::progress).
    pub attempt: u32,
    /// The kind of event, with its details.
    pub data: EventData<'a>,
    pub(super) elapsed: Option<Duration>,
    pub(super) attempt_elapsed: Option<Duration>,
}

impl<'a> Event<'a> {
    /// Creates an event, to test an observer.
    pub const fn new(call: &'a str, attempt: u32, data: EventData<'a>) -> Self {
        Self {
            call,
            attempt,
            data,
            elapsed: None,
            attempt_elapsed: None,
        }
    }

    /// The time that the call has taken so far, on its timer, including pauses and waits.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{Event, retry};
    ///
    /// fn warn_if_slow(event: &Event<'_>) {
    ///     if event.elapsed() > Some(Duration::from_secs(10)) {
    ///         eprintln!("slow: {event}");
    ///     }
    /// }
    ///
    /// #[retry(observe = warn_if_slow)]
    /// async fn fetch() -> std::io::Result<String> {
    ///     Ok(String::from("hello"))
    /// }
    /// ```
    ///
    /// `None` in durable calls.
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }

    /// The duration of the attempt that ended with this event, on the call's timer, without pauses and the wait for a
    /// limiter. `None` if no attempt ended, and whenever [`elapsed`](Self::elapsed) is `None`.
    ///
    /// Also `None` for a correction, for an attempt that `hedge` started, for a retry that reported
    /// [progress](crate::Attempt::progress), and for a subtask's failure that is not retried, because it is reported
    /// late.
    pub fn attempt_elapsed(&self) -> Option<Duration> {
        self.attempt_elapsed
    }

    /// Returns true if the event is for observers only, and is neither logged nor recorded: the start of an attempt,
    /// and the success of the first attempt.
    pub(crate) fn is_for_observers(&self) -> bool {
        match self.data {
            EventData::Started => true,
            EventData::Succeeded { corrections, .. } => self.attempt == 1 && corrections == 0,
            _ => false,
        }
    }

    /// The error that this event reports, if any.
    #[must_use]
    pub fn error(&self) -> Option<&dyn fmt::Display> {
        self.fields().error
    }

    /// The pause that starts with this event, before a retry or a correction.
    #[must_use]
    pub fn pause(&self) -> Option<Duration> {
        match self.data {
            EventData::Retrying { delay, .. } | EventData::Correcting { delay, .. } => Some(delay),
            _ => None,
        }
    }

    /// The outcome of the attempt or correction that ended with this event, if one did.
    #[must_use]
    pub fn attempt_end(&self) -> Option<AttemptEnd> {
        match self.data {
            EventData::Retrying { kind, .. } | EventData::AttemptFailed { kind, .. } => {
                Some(AttemptEnd::Failed(kind))
            }
            EventData::Correcting { .. } => Some(AttemptEnd::Failed(Kind::Invalid)),
            EventData::FallingBack { ended, .. } | EventData::GaveUp { ended, .. } => ended,
            EventData::Succeeded { .. } => Some(AttemptEnd::Succeeded),
            _ => None,
        }
    }

    /// The number of attempts and the outcome of the call that ended with this event, if one did.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    pub fn call_end(&self) -> Option<(u32, CallEnd)> {
        match self.data {
            EventData::GaveUp {
                attempts, reason, ..
            } => Some((attempts, CallEnd::GaveUp(reason))),
            EventData::Succeeded { attempts, .. } => Some((attempts, CallEnd::Succeeded)),
            EventData::FellBack { .. } => Some((self.attempt, CallEnd::FellBack)),
            _ => None,
        }
    }
}

/// The details of an event: [`Event::data`].
///
/// `max` is the policy's `max`, or in `Correcting` the limit of corrections; `None` if unlimited. Kinds of failure with
/// their own `max` are counted separately, so [`attempt`](Event::attempt) can exceed `max` + 1.
///
/// `attempts` is the total number of attempts. Unlike `attempt`, `attempts` includes attempts that started after the
/// winning one, and those before the last progress.
///
/// `corrections` is the number of calls of `correct`.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum EventData<'a> {
    /// An attempt starts: in a batch, the first call of a round; in a plan, a round or one of its subtasks. Only the
    /// key `observe` receives this event; it is not logged.
    Started,
    /// An attempt failed, and another follows after a pause.
    Retrying {
        /// The number of the next retry, from 1, in the count for its kind of failure. A kind with its own `max` is
        /// counted separately, and all other kinds together.
        retry: u32,
        /// The most retries allowed in the same count; `None` if unlimited. To show both numbers to people, write
        /// `retry`/`retry_max`, as in `2/3`.
        retry_max: Option<u32>,
        /// The `max` of the policy.
        max: Option<u32>,
        /// The pause before the next attempt.
        delay: Duration,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// The kind of failure.
        kind: Kind,
    },
    /// A value was rejected by `validate`, and `correct` will repair it after a pause.
    Correcting {
        /// The number of the next correction, from 1.
        correction: u32,
        /// The most corrections that the call may make.
        max: Option<u32>,
        /// The pause before the correction.
        delay: Duration,
        /// The error that rejected the value.
        error: &'a dyn fmt::Display,
    },
    /// An attempt takes longer than the key `hedge` allows, or one of several failed, and another starts next to those
    /// in flight. [`attempt`](Event::attempt) is the new attempt's number.
    Hedging {
        /// The `max` of the policy.
        max: Option<u32>,
        /// The time for which the previous attempt has been in flight, or zero if the new attempt starts because
        /// another failed.
        delay: Duration,
    },
    /// An attempt failed while others continue: with the key `hedge`, those of the same call; in a plan, those of other
    /// subtasks. A later event reports the outcome of the call.
    AttemptFailed {
        /// The failure.
        error: &'a dyn fmt::Display,
        /// The kind of failure.
        kind: Kind,
    },
    /// Items of a batch failed in the same way in a round, or were given up without an attempt.
    /// [`attempt`](Event::attempt) is 0 if the items were never sent. For items that are sent again, one group of
    /// failures is reported as `Retrying`, and each other group as this event, because a round has only one pause. A
    /// later event reports the outcome of the batch.
    ItemsFailed {
        /// The `max` of the policy.
        max: Option<u32>,
        /// The number of these items, and the failure of the first.
        error: &'a dyn fmt::Display,
        /// The kind of failure. `None` if the failure is not retried, or if no attempt ended with this event.
        kind: Option<Kind>,
        /// The pause after which the items are sent again, or the reason that they are given up.
        follows: Result<Duration, Reason>,
    },
    /// An attempt failed, no other follows, and the function of the key `fallback` is called. The call then ends with
    /// `FellBack`, or with `GaveUp` and [`Reason::FallbackFailed`]. If the function returns the call's own error, the
    /// call ends with a `GaveUp` that has this event's reason and is not logged.
    FallingBack {
        /// The number of calls of `correct`.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// The end of the attempt. `None` after a pause, or if no attempt was made.
        ended: Option<AttemptEnd>,
        /// The reason that no attempt follows.
        reason: Reason,
    },
    /// The function of the key `fallback` succeeded after all attempts failed. [`attempt`](Event::attempt) is the
    /// number of the last attempt, and so the number of attempts.
    FellBack {
        /// The number of calls of `correct`.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
    },
    /// An attempt failed, and the call ends with that failure, or with the failure of its `fallback`. A batch ends this
    /// way if it gave up any item; the event then contains the number of these items, and the failure and reason of the
    /// last ones. For a batch, this event is not logged, because the given-up items already were.
    GaveUp {
        /// The number of attempts made.
        attempts: u32,
        /// The number of calls of `correct`.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// The end of the attempt. `None` after a pause, if no attempt was made, if the attempt was dropped, or for a
        /// plan's subtask whose failure was reported as `AttemptFailed`. For a batch, the end of its last round.
        ended: Option<AttemptEnd>,
        /// The reason that no attempt follows.
        reason: Reason,
    },
    /// An attempt succeeded. If it was the first, only the key `observe` receives this event; it is not logged.
    Succeeded {
        /// The number of attempts made.
        attempts: u32,
        /// The number of values that `correct` repaired in the call.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
    },
    /// The end of an attempt caused the `breaker` to open. Another event reports the outcome of the call.
    BreakerOpened {
        /// The time for which the breaker admits no attempt.
        open_for: Duration,
        /// The failure. `None` after a success: a slow one, or the last of a count window.
        error: Option<&'a dyn fmt::Display>,
        /// The reason that the breaker opened.
        cause: Cause,
    },
    /// The `breaker` was open for long enough, and is now half open: the first trial call starts.
    BreakerHalfOpened,
    /// A trial call succeeded, and the `breaker` closed. Another event reports the outcome of the call.
    BreakerClosed,
    /// The `limiter` makes an attempt wait.
    Waiting {
        /// The number of attempts ahead in the queue.
        ahead: usize,
        /// The minimum wait, if known.
        at_least: Option<Duration>,
    },
    /// The `limiter` has admitted an attempt that waited.
    Waited {
        /// The duration of the wait.
        waited: Duration,
    },
    /// An attempt failed with a hint, and the `limiter` admits no attempt for the time that the server asked for.
    /// Reported again if a later hint more than doubles the remaining time.
    LimiterPaused {
        /// The time during which no attempt starts.
        pause: Duration,
    },
    /// An attempt succeeded for the first time since the `limiter` was paused.
    LimiterResumed,
    /// At the end of an attempt, the `limiter` changed its limit of concurrent attempts.
    LimitChanged {
        /// The new limit of concurrent attempts.
        limit: u32,
    },
    /// At the end of an attempt, the `limiter` changed its rate.
    RateChanged {
        /// The new rate: the total cost of the attempts that may start per second.
        rate: f64,
    },
    /// The progress of a batch or a plan: at its start, and after every change. Only the key `observe` receives this
    /// event; it is not logged.
    Progressed {
        /// Items that have a value, or subtasks that completed.
        done: usize,
        /// Items or subtasks that were given up.
        failed: usize,
        /// All other known items or subtasks: not started, in flight, to be retried, or blocked by a failed subtask.
        waiting: usize,
    },
    /// A call is retried within an attempt of another call, so their retries multiply. Reported once for each pair of
    /// functions, with the feature `nested`.
    #[cfg(feature = "nested")]
    Nested {
        /// The name of the outer call.
        outer: &'a str,
        /// The most attempts of the inner function during one call of the outermost one. `None` if unlimited, or if an
        /// outer call's policy is an expression, which is evaluated only after a failure.
        attempts: Option<u64>,
    },
}

/// The end of the last attempt of a call that gives up, in [`EventData::GaveUp`](crate::EventData::GaveUp) and
/// [`EventData::FallingBack`](crate::EventData::FallingBack).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// A success: the last round of a batch that gave up items in earlier rounds.
    Succeeded,
    /// A failure that is not retried.
    Stop,
    /// A failure of a kind that may be retried.
    Failed(Kind),
}

impl AttemptEnd {
    /// The end of a failed attempt. Without a kind, the failure is not retried.
    #[doc(hidden)]
    pub fn failed(kind: Option<Kind>) -> Self {
        kind.map_or(Self::Stop, Self::Failed)
    }
}

/// The outcome of a call.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The call returned a value.
    Succeeded,
    /// The call gave up, and the fallback returned a value.
    FellBack,
    /// The call gave up for this reason.
    GaveUp(Reason),
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(f)
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({self})")
    }
}
