//! The contents of a log line. Code that prints or records an event uses these, so only one place reads events.

use core::fmt;
use core::time::Duration;

use retry_classify::Kind;
use retry_classify::macro_support::{rounded, shown};

use crate::observe::{Event, EventData, Level, Record};

/// Defines the fields of a log line, in order: rows `name: type, as shown;`.
macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident: $type:ty $(, $shown:expr)?;)*) => {
        /// The contents of a log line. `Display` prints it.
        #[derive(Clone, Copy)]
        pub struct Fields<'a> {
            /// The name of the event, with which the line starts.
            pub name: &'static str,
            /// The default level.
            pub level: Level,
            /// The record, if its level can be changed.
            pub record: Option<Record>,
            /// The name of the call.
            pub call: &'a dyn fmt::Display,
            /// The number of the attempt.
            pub attempt: Option<u32>,
            $($(#[$doc])* pub $field: Option<$type>,)*
            /// Text at the end of the line, after a colon.
            pub summary: Option<&'a dyn fmt::Display>,
        }

        impl<'a> Fields<'a> {
            /// A line with this event name, for the call with this name.
            pub const fn new(
                name: &'static str,
                level: Level,
                call: &'a dyn fmt::Display,
                attempt: Option<u32>,
            ) -> Self {
                Self { name, level, record: None, call, attempt, $($field: None,)* summary: None }
            }

            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_field(f, "attempt", self.attempt)?;
                $(write_field(f, stringify!($field), self.$field$(.map($shown))?)?;)*
                Ok(())
            }
        }
    };
}

fields! {
    /// The number of this correction.
    correction: u32;
    /// The number of corrections so far.
    corrections: u32;
    /// The `max` of the policy.
    max: Max;
    /// The number of the retry, if the kind of failure has its own count.
    retry: u32;
    /// The limit of the retry's count, or of corrections.
    retry_max: u32;
    /// The number of attempts ahead in the queue.
    ahead: usize;
    /// The pause or the wait.
    delay: Duration, Delay::new;
    /// The limit of concurrent attempts.
    limit: u32;
    /// The rate, in cost per second.
    rate: f64;
    /// The number of items or subtasks that are done.
    done: usize;
    /// The number of items or subtasks that were given up.
    failed: usize;
    /// The number of all other items or subtasks.
    waiting: usize;
    /// The error.
    error: &'a dyn fmt::Display, shown;
    /// The reason for the retry, for giving up, or for the breaker's change.
    reason: &'static str;
    /// The name of the outer call.
    outer: &'a str, shown;
    /// The most attempts, if the retries of nested calls multiply.
    attempts: u64;
}

/// Maps each event to its name, level, record and fields: rows `data => name level record, field: value, …;`.
macro_rules! rows {
    ($event:ident: $(
        $(#[$cfg:meta])?
        $data:ident $({ $($bound:tt)* })? => $name:literal $level:ident $($record:ident)? $(, $field:ident $(: $value:expr)?)*;
    )*) => {
        match $event.data {
            $($(#[$cfg])? EventData::$data $({ $($bound)* })? => Fields {
                $(record: Some(Record::$record),)?
                $($field: rows!(@ $field $($value)?).into(),)*
                ..Fields::new($name, Level::$level, &$event.call, Some($event.attempt))
            },)*
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}

impl Event<'_> {
    pub(crate) fn fields(&self) -> Fields<'_> {
        rows! { self:
            Started => "starting" Off;
            Retrying { retry, retry_max, max, delay, error, kind } => "retrying" Warn Retrying,
                max: Max(max),
                retry: self.has_own_count(retry, retry_max, max).then_some(retry),
                retry_max: retry_max.filter(|_| self.has_own_count(retry, retry_max, max)),
                delay, error, reason: kind.name();
            Correcting { correction, max, delay, error } => "correcting" Warn Correcting,
                correction, retry_max: max, delay, error, reason: Kind::Invalid.name();
            Hedging { max, delay } => "hedging" Info Hedging, max: Max(max), delay;
            AttemptFailed { error, kind } => "attempt failed" Warn AttemptFailed,
                error, reason: kind.name();
            ItemsFailed { max, error, kind, follows: Ok(delay) } => "retrying" Warn Retrying,
                max: Max(max), delay, error, reason: kind.map(Kind::name);
            ItemsFailed { max, error, follows: Err(reason), .. } => "gave up" Warn GaveUp,
                max: Max(max), error, reason: reason.name();
            FallingBack { corrections, max, error, reason, .. } => "falling back" Warn FallingBack,
                corrections: nonzero(corrections), max: Max(max), error, reason: reason.name();
            FellBack { corrections, max } => "fell back" Info FellBack,
                corrections: nonzero(corrections), max: Max(max);
            GaveUp { corrections, max, error, reason, .. } => "gave up" Warn GaveUp,
                corrections: nonzero(corrections), max: Max(max), error, reason: reason.name();
            Succeeded { corrections, max, .. } => "succeeded" Info Succeeded,
                corrections: nonzero(corrections), max: Max(max);
            BreakerOpened { open_for, error, cause } => "breaker opened" Warn BreakerOpened,
                delay: open_for, error, reason: cause.name();
            BreakerHalfOpened => "breaker half open" Info BreakerHalfOpened,
                reason: "open for long enough";
            BreakerClosed => "breaker closed" Info BreakerClosed, reason: "trial call succeeded";
            Waiting { ahead, at_least } => "waiting" Debug Waiting, ahead, delay: at_least;
            Waited { waited } => "waited" Debug Waited, delay: waited;
            LimiterPaused { pause } => "limiter paused" Info LimiterPaused, delay: pause;
            LimiterResumed => "limiter resumed" Info LimiterResumed;
            LimitChanged { limit } => "limit changed" Debug LimitChanged, limit;
            RateChanged { rate } => "rate changed" Debug RateChanged, rate;
            Progressed { done, failed, waiting } => "progressed" Off, done, failed, waiting;
            #[cfg(feature = "nested")]
            Nested { outer, attempts } => "retries multiply" Warn Nested, outer, attempts;
        }
    }

    /// Returns true if the retry's number and limit differ from the failed attempt's.
    fn has_own_count(&self, retry: u32, retry_max: Option<u32>, max: Option<u32>) -> bool {
        (retry, retry_max) != (self.attempt, max)
    }
}

/// The count, or `None` if it is 0.
fn nonzero(count: u32) -> Option<u32> {
    (count > 0).then_some(count)
}

fn write_field(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: Option<impl fmt::Display>,
) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {name}={value}"))
}

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, shown(self.call))?;
        self.write(f)?;
        self.summary.map_or(Ok(()), |text| write!(f, ": {text}"))
    }
}

/// The message of a `tracing` event.
#[cfg(feature = "tracing")]
pub(crate) struct Message<'a>(pub(crate) &'a Fields<'a>);

#[cfg(feature = "tracing")]
impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.0;
        f.write_str(fields.name)?;
        if let Some(attempts) = fields.attempts {
            write!(f, ", up to {attempts} attempts")?;
        }
        if let Some(outer) = fields.outer.map(shown) {
            write!(
                f,
                ": its outer call {outer} retries, too; let only one of them retry"
            )?;
        }
        if let Some(summary) = fields.summary {
            write!(f, ": {summary}")?;
        }
        let delay = fields.delay.map(Delay::new);
        match (fields.record, delay) {
            (_, None) => Ok(()),
            (Some(Record::BreakerOpened | Record::LimiterPaused | Record::Waited), Some(delay)) => {
                write!(f, " for {delay}")
            }
            (Some(Record::Waiting), Some(delay)) => write!(f, " for at least {delay}"),
            (_, Some(Delay(Duration::ZERO))) => f.write_str(" at once"),
            (Some(Record::Hedging), Some(delay)) => write!(f, " after {delay}"),
            (_, Some(delay)) => write!(f, " in {delay}"),
        }
    }
}

/// A limit, as in every key, log field and error: a number, or `unlimited`.
#[derive(Clone, Copy)]
pub struct Max(pub Option<u32>);

impl fmt::Display for Max {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(max) => max.fmt(f),
            None => f.write_str("unlimited"),
        }
    }
}

/// A delay, rounded, because nanoseconds are noise in a log.
pub(crate) struct Delay(Duration);

impl Delay {
    pub(crate) fn new(delay: Duration) -> Self {
        Self(rounded(delay))
    }

    /// The delay in seconds. Divided only once, so that 1848 ms are exactly 1.848. A value below a tenth of a
    /// millisecond becomes 0, because a subscriber would write `1.04e-5`.
    #[cfg(feature = "tracing")]
    #[expect(clippy::cast_precision_loss, reason = "exact for 28,000 years")]
    pub(crate) fn seconds(&self) -> f64 {
        (self.0.as_nanos() / 100_000) as f64 / 1e4
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
