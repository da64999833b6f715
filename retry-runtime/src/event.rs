use std::fmt;
use std::time::Duration;

use crate::{Kind, Reason};

/// One thing that happened in a call.
///
/// Printed with `Display`, an event is a line as the log has it:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Event, Kind};
///
/// let event = Event::Retrying {
///     call: "model.complete",
///     attempt: 2,
///     max: Some(5),
///     delay: Duration::from_millis(1200),
///     error: &"503 overloaded",
///     kind: Kind::Transient,
/// };
/// assert_eq!(
///     event.to_string(),
///     "retrying model.complete attempt=2 max=5 delay=1.2s error=503 overloaded reason=transient",
/// );
/// ```
///
/// `max` is the number of retries in force for that failure, `None` where it is unlimited.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An attempt begins. Only what the key `observe` names sees it.
    Started {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// An attempt failed, and another follows after a pause.
    Retrying {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1.
        attempt: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// The pause before the next attempt.
        delay: Duration,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// What sort of failure it was.
        kind: Kind,
    },
    /// A value was rejected by `validate`, and `correct` repairs it after a pause.
    Correcting {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that returned the value, from 1.
        attempt: u32,
        /// The number of the correction that begins, from 1.
        correction: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// The pause before the correction.
        delay: Duration,
        /// Why the value was rejected.
        error: &'a dyn fmt::Display,
    },
    /// An attempt failed, and the call ends with its failure.
    GaveUp {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1: so many were made.
        attempt: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// Why no attempt follows.
        reason: Reason,
    },
    /// An attempt succeeded. Only what the key `observe` names sees it when it was the first attempt.
    Succeeded {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that succeeded, from 1.
        attempt: u32,
        /// How many times `correct` repaired a value in the call.
        corrections: u32,
        /// The retries allowed.
        max: Option<u32>,
    },
}

impl Event<'_> {
    /// The call's name: the key `name`.
    pub fn call(&self) -> &str {
        match self {
            Self::Started { call, .. }
            | Self::Retrying { call, .. }
            | Self::Correcting { call, .. }
            | Self::GaveUp { call, .. }
            | Self::Succeeded { call, .. } => call,
        }
    }

    /// The number of the attempt that the event is about, from 1.
    pub fn attempt(&self) -> u32 {
        match *self {
            Self::Started { attempt, .. }
            | Self::Retrying { attempt, .. }
            | Self::Correcting { attempt, .. }
            | Self::GaveUp { attempt, .. }
            | Self::Succeeded { attempt, .. } => attempt,
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Started { call, attempt } => write!(f, "starting {call} attempt={attempt}"),
            Self::Retrying {
                call,
                attempt,
                max,
                delay,
                error,
                kind,
            } => {
                let (max, delay) = (Max(max), Delay(delay));
                write!(
                    f,
                    "retrying {call} attempt={attempt} max={max} delay={delay} error={error} reason={kind}"
                )
            }
            Self::Correcting {
                call,
                attempt,
                correction,
                max,
                delay,
                error,
            } => {
                let (max, delay, kind) = (Max(max), Delay(delay), Kind::Invalid);
                write!(
                    f,
                    "correcting {call} attempt={attempt} correction={correction} max={max} delay={delay} error={error} reason={kind}"
                )
            }
            Self::GaveUp {
                call,
                attempt,
                max,
                error,
                reason,
            } => {
                let max = Max(max);
                write!(
                    f,
                    "gave up {call} attempt={attempt} max={max} error={error} reason={reason}"
                )
            }
            Self::Succeeded {
                call,
                attempt,
                corrections,
                max,
            } => {
                write!(f, "succeeded {call} attempt={attempt}")?;
                if corrections > 0 {
                    write!(f, " corrections={corrections}")?;
                }
                write!(f, " max={}", Max(max))
            }
        }
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({self})")
    }
}

/// A limit as every key, log field and error has it: a number, or `unlimited`.
pub(crate) struct Max(pub(crate) Option<u32>);

impl fmt::Display for Max {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(max) => max.fmt(f),
            None => f.write_str("unlimited"),
        }
    }
}

/// A delay to the millisecond where it has any: nobody reads a log for nanoseconds.
pub(crate) struct Delay(pub(crate) Duration);

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fine = self.0 < Duration::from_millis(1);
        let unit = if fine { 1 } else { 1_000_000 };
        let nanos = self.0.subsec_nanos() / unit * unit;
        write!(f, "{:?}", Duration::new(self.0.as_secs(), nanos))
    }
}
