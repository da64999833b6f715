use core::fmt;
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::observe::cause::Cause;
use crate::observe::reason::Reason;

/// One thing that happened in a call.
///
/// `Display` prints an event as one line with all that the log has of it:
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
/// Errors are texts of others. An event shows them on one line, with at most 1 KiB, and without what may be a secret in
/// URLs: user info, query and fragment.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The call's name: the key `name`. A batch and a plan have one, and a subtask's is `plan.subtask`.
    pub call: &'a str,
    /// The number of the attempt that the event is about, from 1; 0 where none was made. In a batch or a plan, attempts
    /// are rounds.
    ///
    /// Where the key `hedge` made several attempts at once and all failed, it is that of the one that began last; in
    /// [`EventData::Succeeded`] that of the one that won. It counts from the last [progress](crate::Attempt::progress).
    pub attempt: u32,
    /// What happened.
    pub data: EventData<'a>,
    pub(super) elapsed: Option<Duration>,
    pub(super) attempt_elapsed: Option<Duration>,
}

impl<'a> Event<'a> {
    /// An event as calls report it, for tests of observers.
    pub const fn new(call: &'a str, attempt: u32, data: EventData<'a>) -> Self {
        Self {
            call,
            attempt,
            data,
            elapsed: None,
            attempt_elapsed: None,
        }
    }

    /// How long the call has taken, by its timer, with its pauses and waits.
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

    /// How long the attempt took that ended with this event, by the call's timer: without pauses and the wait for a
    /// limiter's turn. `None` if no attempt ended, and wherever [`elapsed`](Self::elapsed) is `None`.
    ///
    /// Also `None` for a correction, for an attempt that `hedge` began, for a retry that reported
    /// [progress](crate::Attempt::progress), and for a subtask's failure that is not worth a retry, which is reported
    /// later than it happens.
    pub fn attempt_elapsed(&self) -> Option<Duration> {
        self.attempt_elapsed
    }

    /// Whether no attempt ended: what was rejected is tried again.
    pub(crate) fn is_of_rejection(&self) -> bool {
        matches!(self.data, EventData::Retrying { kind, .. } if kind == Kind::Rejected)
    }

    /// The pause that begins with the event, before a retry or a correction.
    pub(crate) fn pause(&self) -> Option<Duration> {
        match self.data {
            EventData::Retrying { delay, .. } | EventData::Correcting { delay, .. } => Some(delay),
            _ => None,
        }
    }

    /// How an attempt or a correction ended with this event, if one did.
    pub(crate) fn attempt_end(&self) -> Option<AttemptEnd> {
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

    /// After how many attempts a call ended with this event, and how.
    #[cfg(feature = "std")]
    pub(crate) fn call_end(&self) -> Option<(u32, CallEnd)> {
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

/// What happened in a call: [`Event::data`].
///
/// `max` is the policy's `max`, in `Correcting` the limit of corrections; `None` if it is unlimited. Kinds of failure with a
/// `max` of their own are counted separately, so [`attempt`](Event::attempt) can get beyond `max` + 1.
///
/// `attempts` is how many were made in all. It includes attempts that began after the one that won, and those
/// before the last progress, where `attempt` starts counting again.
///
/// `corrections` is how many times `correct` was called.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum EventData<'a> {
    /// An attempt begins: in a batch the first call of a round, in a plan a round, and each of its subtasks. Only the
    /// key `observe` sees this event; it is not logged.
    Started,
    /// An attempt failed, and another follows after a pause.
    Retrying {
        /// The number of the retry that follows, from 1, in the count of its kind: a kind of failure with a `max` of its
        /// own is counted by itself, and all others together.
        retry: u32,
        /// How many retries may be made in that count, `None` if they are unlimited. `retry` of `retry_max` is what a
        /// person reads: `2/3`.
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
    /// A value was rejected by `validate`, and `correct` repairs it after a pause.
    Correcting {
        /// The number of the correction that begins, from 1.
        correction: u32,
        /// How many corrections the call may make.
        max: Option<u32>,
        /// The pause before the correction.
        delay: Duration,
        /// Why the value was rejected.
        error: &'a dyn fmt::Display,
    },
    /// An attempt takes longer than the key `hedge` says, or one of several failed, and another begins beside those that
    /// run. The event has its number.
    Hedging {
        /// The `max` of the policy.
        max: Option<u32>,
        /// How long the attempt before it has been running, or zero if it begins because one failed.
        delay: Duration,
    },
    /// An attempt failed beside others, which go on: of its call, with the key `hedge`; of other subtasks, in a plan.
    /// Another event says what becomes of the call.
    AttemptFailed {
        /// The failure.
        error: &'a dyn fmt::Display,
        /// The kind of failure.
        kind: Kind,
    },
    /// Items of a batch failed alike in a round, or were given up without an attempt; the number is 0 if they were never
    /// sent. For items that are sent again, one sort of failure is reported as `Retrying`, and every other sort here,
    /// because a round has only one pause. Another event says what
    /// becomes of the batch.
    ItemsFailed {
        /// The `max` of the policy.
        max: Option<u32>,
        /// How many they are, and the failure of the first.
        error: &'a dyn fmt::Display,
        /// The kind of failure. `None` if it was not worth a retry, or if no attempt ended here.
        kind: Option<Kind>,
        /// The pause after which they are sent again, or why they are not.
        follows: Result<Duration, Reason>,
    },
    /// An attempt failed, no other follows, and the function of the key `fallback` is called. It ends the call: with
    /// `FellBack`, or with `GaveUp` for [`Reason::FallbackFailed`].
    FallingBack {
        /// How many times `correct` was called.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// How the attempt ended. `None` if none ended here: after a pause, or where none was made.
        ended: Option<AttemptEnd>,
        /// Why no attempt follows.
        reason: Reason,
    },
    /// The function of the key `fallback` succeeded in the place of an attempt. The number is that of the last attempt,
    /// which failed: so many were made.
    FellBack {
        /// How many times `correct` was called.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
    },
    /// An attempt failed, and the call ends with that failure, or with the failure of its `fallback`. A batch ends this
    /// way if it gave up any item; the event has how many, and the failure and reason of the last ones. It is not
    /// logged for a batch, because each given-up item already was.
    GaveUp {
        /// How many attempts were made.
        attempts: u32,
        /// How many times `correct` was called.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// How the attempt ended. `None` if none ended here: after a pause, where none was made, where it was dropped, or
        /// of a subtask of a plan whose failure was told of as `AttemptFailed`. Of a batch, how its last round ended.
        ended: Option<AttemptEnd>,
        /// Why no attempt follows.
        reason: Reason,
    },
    /// An attempt succeeded. If it was the first, only the key `observe` sees this event; it is not logged.
    Succeeded {
        /// How many attempts were made.
        attempts: u32,
        /// How many times `correct` repaired a value in the call.
        corrections: u32,
        /// The `max` of the policy.
        max: Option<u32>,
    },
    /// An attempt ended, and with that the `breaker` opened. Another event says what becomes of the
    /// call.
    BreakerOpened {
        /// For how long it lets nothing through.
        open_for: Duration,
        /// The failure. `None` after a success: one that was slow, or the last of a count window.
        error: Option<&'a dyn fmt::Display>,
        /// Why it opened.
        cause: Cause,
    },
    /// The first trial call begins, and with that the `breaker`, which was open for long enough, is half open.
    BreakerHalfOpened,
    /// A trial call succeeded, and with that the `breaker` closed. Another event says what becomes of the
    /// call.
    BreakerClosed,
    /// The `limiter` lets an attempt wait for its turn.
    Waiting {
        /// How many attempts wait before it.
        ahead: usize,
        /// How long it has to wait, where that is known.
        at_least: Option<Duration>,
    },
    /// The turn of an attempt that waited has come.
    Waited {
        /// How long it waited.
        waited: Duration,
    },
    /// An attempt was throttled, and for as long as the server asked for, the `limiter` lets none begin. The event comes
    /// again where a later hint makes that more than twice as long as what is left.
    LimiterPaused {
        /// For how long no attempt begins.
        pause: Duration,
    },
    /// The first attempt succeeded after the `limiter` was paused.
    LimiterResumed,
    /// With the end of an attempt, the `limiter` changed how many may run at a time.
    LimitChanged {
        /// How many may run at a time from now on.
        limit: u32,
    },
    /// With the end of an attempt, the `limiter` changed how many may begin per second.
    RateChanged {
        /// How many may begin per second from now on.
        rate: f64,
    },
    /// How far a batch or a plan is: when it begins, and whenever that changed. Only the key `observe` sees this
    /// event; it is not logged.
    Progressed {
        /// Items that have a value, or subtasks that completed.
        done: usize,
        /// Items or subtasks that were given up.
        failed: usize,
        /// All other items or subtasks that are known: not begun, under way, to be retried, or blocked by a subtask that
        /// failed.
        waiting: usize,
    },
    /// A call is retried within an attempt of another call, so that their retries multiply. The event comes
    /// once for each two functions, with the feature `nested`.
    #[cfg(feature = "nested")]
    Nested {
        /// The name of the call around it.
        outer: &'a str,
        /// How many attempts of the inner function one call of the outermost may make. `None` if they are unlimited, or if
        /// the policy of a call around is an expression, which is evaluated at a failure.
        attempts: Option<u64>,
    },
}

/// How the last attempt of a call that gives up ended, as [`EventData::GaveUp`](crate::EventData::GaveUp) and
/// [`EventData::FallingBack`](crate::EventData::FallingBack) say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// A success: the last round of a batch that had given up items before.
    Succeeded,
    /// A failure that is not worth a retry.
    Stop,
    /// A failure of a kind that is worth a retry.
    Failed(Kind),
}

impl AttemptEnd {
    /// The end by a failure, of that kind if it is worth a retry.
    pub(crate) fn failed(kind: Option<Kind>) -> Self {
        kind.map_or(Self::Stop, Self::Failed)
    }
}

/// What became of a call.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnd {
    Succeeded,
    FellBack,
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
