use core::fmt::{self, Write};
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::error_text::shown::{Shown, shown};
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::cause::Cause;
use crate::observe::reason::Reason;

/// One thing that happened in a call.
///
/// `Display` prints an event as one line with all that the log has of it:
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
///     "retrying model.complete attempt=2 max=5 delay=1.2s error=503 overloaded \
///      reason=transient",
/// );
/// ```
///
/// `max` is how many retries the call may make in all, `None` if they are unlimited: the `max` in force for that failure,
/// plus the retries so far that do not count against it, such as those after a kind of failure with a `max` of its own. So
/// a call is exhausted when `attempt` is `max` + 1. In `Correcting`, and where corrections are exhausted, it is how many
/// corrections the call may make: then `corrections` is `max`.
///
/// Where the key `hedge` made several attempts at once and all failed, `Retrying`, `FallingBack` and `GaveUp` have the number
/// of the one that began last. `Succeeded` has that of the one that won.
///
/// `attempts` is how many were made in all. It includes attempts that began after the one that won, and under
/// `"resume"` those before the last progress, where `attempt` starts counting again.
///
/// Errors are texts of others. An event shows them on one line, with at most 1 KiB, and without what may be a secret in
/// URLs: user info, query and fragment.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An attempt begins: in a batch the first call of a round, in a plan a round, and each of its subtasks. Only the
    /// key `observe` sees this event; it is not logged.
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
    /// An attempt takes longer than the key `hedge` says, and another begins beside it.
    Hedging {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that begins.
        attempt: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// How long the attempt before it has been running.
        delay: Duration,
    },
    /// An attempt failed beside others, which go on: of its call, with the key `hedge`; of other subtasks, in a plan.
    /// What becomes of the call follows.
    AttemptFailed {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1.
        attempt: u32,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// What sort of failure it was.
        kind: Kind,
    },
    /// Items of a batch failed alike in a round, or were given up without an attempt. For items that are sent again,
    /// one sort of failure is reported as `Retrying`, and every other sort here, because a round has only one
    /// pause. What becomes of the batch follows.
    ItemsFailed {
        /// The batch's name: the key `name`.
        call: &'a str,
        /// The number of the round that they failed in, from 1; 0 if they were never sent.
        attempt: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// How many they are, and the failure of the first.
        error: &'a dyn fmt::Display,
        /// What sort of failure it was. `None` if it was not worth a retry, or if no attempt ended here.
        kind: Option<Kind>,
        /// The pause after which they are sent again, or why they are not.
        follows: Result<Duration, Reason>,
    },
    /// An attempt failed, no other follows, and the function of the key `fallback` is called. It ends the call: with
    /// `FellBack`, or with `GaveUp` for [`Reason::FallbackFailed`].
    FallingBack {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1; 0 where none was made.
        attempt: u32,
        /// How many times `correct` was called.
        corrections: u32,
        /// The retries allowed.
        max: Option<u32>,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// How the attempt ended. `None` if none ended here: after a pause, or where none was made.
        ended: Option<AttemptEnd>,
        /// Why no attempt follows.
        reason: Reason,
    },
    /// The function of the key `fallback` succeeded in the place of an attempt.
    FellBack {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the last attempt, which failed, from 1: so many were made.
        attempt: u32,
        /// How many times `correct` was called.
        corrections: u32,
        /// The retries allowed.
        max: Option<u32>,
    },
    /// An attempt failed, and the call ends with that failure, or with the failure of its `fallback`. A batch ends this
    /// way if it gave up any item; the event has how many, and the failure and reason of the last ones. It is not
    /// logged for a batch, because each given-up item already was.
    GaveUp {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1; 0 where none was made.
        attempt: u32,
        /// How many attempts were made.
        attempts: u32,
        /// How many times `correct` was called.
        corrections: u32,
        /// The retries allowed.
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
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that succeeded, from 1.
        attempt: u32,
        /// How many attempts were made.
        attempts: u32,
        /// How many times `correct` repaired a value in the call.
        corrections: u32,
        /// The retries allowed.
        max: Option<u32>,
    },
    /// An attempt failed, and with that the `breaker` opened. What becomes of the call follows.
    BreakerOpened {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that failed, from 1.
        attempt: u32,
        /// For how long it lets nothing through.
        open_for: Duration,
        /// The failure.
        error: &'a dyn fmt::Display,
        /// Why it opened.
        cause: Cause,
    },
    /// The first trial call begins, and with that the `breaker`, which was open for long enough, is half open.
    BreakerHalfOpened {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that is the trial call, from 1.
        attempt: u32,
    },
    /// A trial call succeeded, and with that the `breaker` closed. What becomes of the call follows.
    BreakerClosed {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that succeeded, from 1.
        attempt: u32,
    },
    /// The `limiter` lets an attempt wait for its turn.
    Waiting {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that is about to begin, from 1.
        attempt: u32,
        /// How many attempts wait before it.
        ahead: usize,
        /// How long it has to wait, where that is known.
        at_least: Option<Duration>,
    },
    /// The turn of an attempt that waited has come.
    Waited {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that begins, from 1.
        attempt: u32,
        /// How long it waited.
        waited: Duration,
    },
    /// An attempt was throttled, and for as long as the server asked for, the `limiter` lets none begin. Told again where
    /// a later hint makes that more than twice as long as what is left.
    LimiterPaused {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that was throttled, from 1.
        attempt: u32,
        /// For how long.
        pause: Duration,
    },
    /// The first attempt succeeded after the `limiter` was paused.
    LimiterResumed {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that succeeded, from 1.
        attempt: u32,
    },
    /// An attempt ended, and the `limiter` changed how many may run at a time.
    LimitChanged {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that ended, from 1.
        attempt: u32,
        /// So many from now on.
        limit: u32,
    },
    /// With the end of an attempt, the `limiter` changed how many may begin per second.
    RateChanged {
        /// The call's name: the key `name`.
        call: &'a str,
        /// The number of the attempt that ended, from 1.
        attempt: u32,
        /// So many from now on.
        rate: f64,
    },
    /// How far a batch or a plan is: told when it begins, and whenever that changed. Only the key `observe` sees this
    /// event; it is not logged.
    Progressed {
        /// The name of the batch or plan: the key `name`.
        call: &'a str,
        /// The number of the round, from 1.
        attempt: u32,
        /// Items that have a value, or subtasks that completed.
        done: usize,
        /// Those that were given up.
        failed: usize,
        /// All others that are known of: they have not begun, are under way, may be retried, or are blocked by a subtask
        /// that failed.
        waiting: usize,
    },
    /// A call is retried within an attempt of another call, so that their retries multiply. Told once for each two
    /// functions, with the feature `nested`.
    #[cfg(feature = "nested")]
    Nested {
        /// The name of the inner call, which is retried.
        call: &'a str,
        /// The number of its attempt that failed, from 1.
        attempt: u32,
        /// The name of the call around it.
        outer: &'a str,
        /// How many attempts of the inner function one call of the outermost may make. `None` if they are unlimited, or if
        /// the policy of a call around is an expression, which is evaluated at a failure.
        attempts: Option<u64>,
    },
}

impl<'a> Event<'a> {
    /// The call's name: the key `name`.
    pub fn call(&self) -> &'a str {
        match self {
            Self::Started { call, .. }
            | Self::Retrying { call, .. }
            | Self::Correcting { call, .. }
            | Self::Hedging { call, .. }
            | Self::AttemptFailed { call, .. }
            | Self::ItemsFailed { call, .. }
            | Self::FallingBack { call, .. }
            | Self::FellBack { call, .. }
            | Self::GaveUp { call, .. }
            | Self::Succeeded { call, .. }
            | Self::BreakerOpened { call, .. }
            | Self::BreakerHalfOpened { call, .. }
            | Self::BreakerClosed { call, .. }
            | Self::Waiting { call, .. }
            | Self::Waited { call, .. }
            | Self::LimiterPaused { call, .. }
            | Self::LimiterResumed { call, .. }
            | Self::LimitChanged { call, .. }
            | Self::RateChanged { call, .. }
            | Self::Progressed { call, .. } => call,
            #[cfg(feature = "nested")]
            Self::Nested { call, .. } => call,
        }
    }

    /// The number of the attempt that the event is about, from 1; 0 where none was made.
    pub fn attempt(&self) -> u32 {
        match *self {
            Self::Started { attempt, .. }
            | Self::Retrying { attempt, .. }
            | Self::Correcting { attempt, .. }
            | Self::Hedging { attempt, .. }
            | Self::AttemptFailed { attempt, .. }
            | Self::ItemsFailed { attempt, .. }
            | Self::FallingBack { attempt, .. }
            | Self::FellBack { attempt, .. }
            | Self::GaveUp { attempt, .. }
            | Self::Succeeded { attempt, .. }
            | Self::BreakerOpened { attempt, .. }
            | Self::BreakerHalfOpened { attempt, .. }
            | Self::BreakerClosed { attempt, .. }
            | Self::Waiting { attempt, .. }
            | Self::Waited { attempt, .. }
            | Self::LimiterPaused { attempt, .. }
            | Self::LimiterResumed { attempt, .. }
            | Self::LimitChanged { attempt, .. }
            | Self::RateChanged { attempt, .. }
            | Self::Progressed { attempt, .. } => attempt,
            #[cfg(feature = "nested")]
            Self::Nested { attempt, .. } => attempt,
        }
    }

    /// Whether something failed before the success.
    #[cfg(feature = "std")]
    pub(crate) fn is_healed(&self) -> bool {
        matches!(*self, Self::Succeeded { attempt, corrections, .. } if attempt > 1 || corrections > 0)
    }

    /// What happened, as a line begins with.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "starting",
            Self::Retrying { .. } | Self::ItemsFailed { follows: Ok(_), .. } => "retrying",
            Self::Correcting { .. } => "correcting",
            Self::Hedging { .. } => "hedging",
            Self::AttemptFailed { .. } => "attempt failed",
            Self::FallingBack { .. } => "falling back",
            Self::FellBack { .. } => "fell back",
            Self::GaveUp { .. }
            | Self::ItemsFailed {
                follows: Err(_), ..
            } => "gave up",
            Self::Succeeded { .. } => "succeeded",
            Self::BreakerOpened { .. } => "breaker opened",
            Self::BreakerHalfOpened { .. } => "breaker half open",
            Self::BreakerClosed { .. } => "breaker closed",
            #[cfg(feature = "nested")]
            Self::Nested { .. } => "retries multiply",
            Self::Waiting { .. } => "waiting",
            Self::Waited { .. } => "waited",
            Self::LimiterPaused { .. } => "limiter paused",
            Self::LimiterResumed { .. } => "limiter resumed",
            Self::LimitChanged { .. } => "limit changed",
            Self::RateChanged { .. } => "rate changed",
            Self::Progressed { .. } => "progressed",
        }
    }

    /// The number of the correction that begins, or the number of corrections made, if any.
    pub(crate) fn correction(&self) -> Option<u32> {
        match *self {
            Self::Correcting { correction, .. } => Some(correction),
            Self::FallingBack { corrections, .. }
            | Self::FellBack { corrections, .. }
            | Self::GaveUp { corrections, .. }
            | Self::Succeeded { corrections, .. } => (corrections > 0).then_some(corrections),
            _ => None,
        }
    }

    pub(crate) fn max(&self) -> Option<Max> {
        match *self {
            Self::Retrying { max, .. }
            | Self::Correcting { max, .. }
            | Self::Hedging { max, .. }
            | Self::ItemsFailed { max, .. }
            | Self::FallingBack { max, .. }
            | Self::FellBack { max, .. }
            | Self::GaveUp { max, .. }
            | Self::Succeeded { max, .. } => Some(Max(max)),
            _ => None,
        }
    }

    /// How many attempts wait before this one.
    pub(crate) fn ahead(&self) -> Option<usize> {
        match *self {
            Self::Waiting { ahead, .. } => Some(ahead),
            _ => None,
        }
    }

    /// How many attempts may run at a time.
    pub(crate) fn limit(&self) -> Option<u32> {
        match *self {
            Self::LimitChanged { limit, .. } => Some(limit),
            _ => None,
        }
    }

    /// How many attempts may begin per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        match *self {
            Self::RateChanged { rate, .. } => Some(rate),
            _ => None,
        }
    }

    pub(crate) fn delay(&self) -> Option<Delay> {
        match *self {
            Self::Retrying { delay, .. }
            | Self::Correcting { delay, .. }
            | Self::Hedging { delay, .. }
            | Self::ItemsFailed {
                follows: Ok(delay), ..
            } => Some(Delay::new(delay)),
            Self::BreakerOpened { open_for, .. } => Some(Delay::new(open_for)),
            Self::Waiting { at_least, .. } => at_least.map(Delay::new),
            Self::Waited { waited, .. } => Some(Delay::new(waited)),
            Self::LimiterPaused { pause, .. } => Some(Delay::new(pause)),
            _ => None,
        }
    }

    pub(crate) fn error(&self) -> Option<Shown<&'a dyn fmt::Display>> {
        match *self {
            Self::Retrying { error, .. }
            | Self::Correcting { error, .. }
            | Self::AttemptFailed { error, .. }
            | Self::ItemsFailed { error, .. }
            | Self::FallingBack { error, .. }
            | Self::GaveUp { error, .. }
            | Self::BreakerOpened { error, .. } => Some(shown(error)),
            _ => None,
        }
    }

    /// Why there is a retry, or none, or why the breaker changed.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        match *self {
            Self::Retrying { kind, .. } | Self::AttemptFailed { kind, .. } => Some(kind.name()),
            Self::Correcting { .. } => Some(Kind::Invalid.name()),
            Self::FallingBack { reason, .. }
            | Self::GaveUp { reason, .. }
            | Self::ItemsFailed {
                follows: Err(reason),
                ..
            } => Some(reason.name()),
            Self::ItemsFailed { kind, .. } => kind.map(Kind::name),
            Self::BreakerOpened { cause, .. } => Some(cause.name()),
            Self::BreakerHalfOpened { .. } => Some("open for long enough"),
            Self::BreakerClosed { .. } => Some("trial call succeeded"),
            _ => None,
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, call, attempt) = (self.name(), shown(self.call()), self.attempt());
        write!(f, "{name} {call} attempt={attempt}")?;
        if let Some(correction) = self.correction() {
            let all = !matches!(self, Self::Correcting { .. });
            write!(f, " correction{}={correction}", if all { "s" } else { "" })?;
        }
        if let Some(max) = self.max() {
            write!(f, " max={max}")?;
        }
        if let Some(ahead) = self.ahead() {
            write!(f, " ahead={ahead}")?;
        }
        if let Some(delay) = self.delay() {
            write!(f, " delay={delay}")?;
        }
        if let Some(limit) = self.limit() {
            write!(f, " limit={limit}")?;
        }
        if let Some(rate) = self.rate() {
            write!(f, " rate={}", Rate(rate))?;
        }
        if let Self::Progressed {
            done,
            failed,
            waiting,
            ..
        } = self
        {
            write!(f, " done={done} failed={failed} waiting={waiting}")?;
        }
        if let Some(error) = self.error() {
            write!(f, " error={error}")?;
        }
        if let Some(reason) = self.reason() {
            write!(f, " reason={reason}")?;
        }
        #[cfg(feature = "nested")]
        if let Self::Nested {
            outer, attempts, ..
        } = self
        {
            write!(f, " outer={}", shown(outer))?;
            if let Some(attempts) = attempts {
                write!(f, " attempts={attempts}")?;
            }
        }
        Ok(())
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

/// Writes a number and the parts of a unit beside it, as `1.25`.
///
/// By their own `Display` and `Debug`, floats and durations are 20 KB of a program that may show no other.
fn write_decimal(f: &mut fmt::Formatter<'_>, whole: u64, part: u32, mut unit: u32) -> fmt::Result {
    write!(f, "{whole}")?;
    let mut rest = part;
    if rest > 0 {
        f.write_char('.')?;
    }
    while rest > 0 {
        unit /= 10;
        write!(f, "{}", rest / unit)?;
        rest %= unit;
    }
    Ok(())
}

/// A rate to the thousandth.
struct Rate(f64);

impl fmt::Display for Rate {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the casts saturate, and no rate is negative"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousandths = (self.0 * 1e3 + 0.5) as u64;
        write_decimal(f, thousandths / 1000, (thousandths % 1000) as u32, 1000)
    }
}

/// A delay to the millisecond where it has any: nobody reads a log for nanoseconds.
pub(crate) struct Delay(Duration);

impl Delay {
    pub(crate) fn new(delay: Duration) -> Self {
        let fine = delay < Duration::from_millis(1);
        let unit = if fine { 1 } else { 1_000_000 };
        let nanos = delay.subsec_nanos() / unit * unit;
        Self(Duration::new(delay.as_secs(), nanos))
    }

    /// Rounded once, so that 1848 ms are 1.848, and not 1 plus 0.848.
    #[cfg(feature = "tracing")]
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact up to 104 days, to the microsecond beyond"
    )]
    pub(crate) fn seconds(&self) -> f64 {
        self.0.as_nanos() as f64 / 1e9
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nanos, units) = (
            self.0.subsec_nanos(),
            [(1_000_000, "ms"), (1_000, "µs"), (1, "ns")],
        );
        if self.0.as_secs() > 0 {
            write_decimal(f, self.0.as_secs(), nanos, 1_000_000_000)?;
            return f.write_char('s');
        }
        let found = units.into_iter().find(|(unit, _)| nanos >= *unit);
        let (unit, name) = found.unwrap_or((1, "ns"));
        write_decimal(f, (nanos / unit).into(), nanos % unit, unit)?;
        f.write_str(name)
    }
}

/// What the log says in words beside its fields.
#[cfg(feature = "tracing")]
pub(crate) struct Message<'a>(pub(crate) Event<'a>);

#[cfg(feature = "tracing")]
impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())?;
        #[cfg(feature = "nested")]
        if let Event::Nested {
            outer, attempts, ..
        } = self.0
        {
            if let Some(attempts) = attempts {
                write!(f, ", up to {attempts} attempts")?;
            }
            let outer = shown(outer);
            return write!(f, ": {outer} around it retries, too; let one of them retry");
        }
        match self.0.delay() {
            Some(delay)
                if matches!(
                    self.0,
                    Event::BreakerOpened { .. }
                        | Event::LimiterPaused { .. }
                        | Event::Waited { .. }
                ) =>
            {
                write!(f, " for {delay}")
            }
            Some(delay) if matches!(self.0, Event::Waiting { .. }) => {
                write!(f, " for at least {delay}")
            }
            Some(delay) if matches!(self.0, Event::Hedging { .. }) => {
                write!(f, " after {delay}")
            }
            Some(Delay(Duration::ZERO)) => f.write_str(" at once"),
            Some(delay) => write!(f, " in {delay}"),
            None => Ok(()),
        }
    }
}
