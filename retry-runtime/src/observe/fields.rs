//! What a line of the log has, whatever it is about: read once from an event, for all that print or record it.

use core::fmt;
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::error_text::shown::shown;
use crate::observe::event::{Event, EventData};
use crate::observe::record::Record;

/// The fields of a line, in the order in which it has them. `Display` prints the line.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// What happened, as the line begins.
    pub(crate) name: &'static str,
    /// The record whose level can be set. What has none is for observers alone, or has a level of its own.
    pub(crate) record: Option<Record>,
    pub(crate) call: &'a dyn fmt::Display,
    pub(crate) attempt: Option<u32>,
    pub(crate) correction: Option<u32>,
    pub(crate) max: Option<Max>,
    /// The number of the retry and its limit, where its kind has a count of its own.
    pub(crate) retry: Option<u32>,
    pub(crate) retry_max: Option<u32>,
    pub(crate) ahead: Option<usize>,
    pub(crate) delay: Option<Duration>,
    pub(crate) limit: Option<u32>,
    pub(crate) rate: Option<f64>,
    pub(crate) done: Option<usize>,
    pub(crate) failed: Option<usize>,
    pub(crate) waiting: Option<usize>,
    pub(crate) error: Option<&'a dyn fmt::Display>,
    /// Why there is a retry, or none, or why the breaker changed.
    pub(crate) reason: Option<&'static str>,
    pub(crate) outer: Option<&'a str>,
    pub(crate) attempts: Option<u64>,
    /// A text after a colon at the end.
    pub(crate) summary: Option<&'a dyn fmt::Display>,
}

/// Each event with its name, its record and the fields of its line: rows `data => name record, field: value, …;`.
macro_rules! rows {
    ($event:ident: $(
        $(#[$cfg:meta])?
        $data:ident $({ $($bound:tt)* })? => $name:literal $($record:ident)? $(, $field:ident $(: $value:expr)?)*;
    )*) => {
        match $event.data {
            $($(#[$cfg])? EventData::$data $({ $($bound)* })? => Fields {
                $(record: Some(Record::$record),)?
                $($field: rows!(@ $field $($value)?).into(),)*
                ..Fields::new($name, &$event.call, Some($event.attempt))
            },)*
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}

impl Event<'_> {
    pub(crate) fn fields(&self) -> Fields<'_> {
        rows! { self:
            Started => "starting";
            Retrying { retry, retry_max, max, delay, error, kind } => "retrying" Retrying,
                max: Max(max),
                retry: self.counts_apart(retry, retry_max, max).then_some(retry),
                retry_max: retry_max.filter(|_| self.counts_apart(retry, retry_max, max)),
                delay, error, reason: kind.name();
            Correcting { correction, max, delay, error } => "correcting" Correcting,
                correction, max: Max(max), delay, error, reason: Kind::Invalid.name();
            Hedging { max, delay } => "hedging" Hedging, max: Max(max), delay;
            AttemptFailed { error, kind } => "attempt failed" AttemptFailed,
                error, reason: kind.name();
            ItemsFailed { max, error, kind, follows: Ok(delay) } => "retrying" Retrying,
                max: Max(max), delay, error, reason: kind.map(Kind::name);
            ItemsFailed { max, error, follows: Err(reason), .. } => "gave up" GaveUp,
                max: Max(max), error, reason: reason.name();
            FallingBack { corrections, max, error, reason, .. } => "falling back" FallingBack,
                correction: any(corrections), max: Max(max), error, reason: reason.name();
            FellBack { corrections, max } => "fell back" FellBack,
                correction: any(corrections), max: Max(max);
            GaveUp { corrections, max, error, reason, .. } => "gave up" GaveUp,
                correction: any(corrections), max: Max(max), error, reason: reason.name();
            Succeeded { corrections, max, .. } => "succeeded" Succeeded,
                correction: any(corrections), max: Max(max);
            BreakerOpened { open_for, error, cause } => "breaker opened" BreakerOpened,
                delay: open_for, error, reason: cause.name();
            BreakerHalfOpened => "breaker half open" BreakerHalfOpened,
                reason: "open for long enough";
            BreakerClosed => "breaker closed" BreakerClosed, reason: "trial call succeeded";
            Waiting { ahead, at_least } => "waiting" Waiting, ahead, delay: at_least;
            Waited { waited } => "waited" Waited, delay: waited;
            LimiterPaused { pause } => "limiter paused" LimiterPaused, delay: pause;
            LimiterResumed => "limiter resumed" LimiterResumed;
            LimitChanged { limit } => "limit changed" LimitChanged, limit;
            RateChanged { rate } => "rate changed" RateChanged, rate;
            Progressed { done, failed, waiting } => "progressed", done, failed, waiting;
            #[cfg(feature = "nested")]
            Nested { outer, attempts } => "retries multiply" Nested, outer, attempts;
        }
    }

    /// Whether a retry has another number and limit than the attempt that failed.
    fn counts_apart(&self, retry: u32, retry_max: Option<u32>, max: Option<u32>) -> bool {
        (retry, retry_max) != (self.attempt, max)
    }
}

/// A count, if it is not 0.
fn any(count: u32) -> Option<u32> {
    (count > 0).then_some(count)
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(
        name: &'static str,
        call: &'a dyn fmt::Display,
        attempt: Option<u32>,
    ) -> Self {
        Self {
            name,
            record: None,
            call,
            attempt,
            correction: None,
            max: None,
            retry: None,
            retry_max: None,
            ahead: None,
            delay: None,
            limit: None,
            rate: None,
            done: None,
            failed: None,
            waiting: None,
            error: None,
            reason: None,
            outer: None,
            attempts: None,
            summary: None,
        }
    }
}

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn field(
            f: &mut fmt::Formatter<'_>,
            name: &str,
            value: Option<impl fmt::Display>,
        ) -> fmt::Result {
            value.map_or(Ok(()), |value| write!(f, " {name}={value}"))
        }

        write!(f, "{} {}", self.name, shown(self.call))?;
        let is_one = self.record == Some(Record::Correcting);
        let correction = if is_one { "correction" } else { "corrections" };
        field(f, "attempt", self.attempt)?;
        field(f, correction, self.correction)?;
        field(f, "max", self.max)?;
        field(f, "retry", self.retry)?;
        field(f, "retry_max", self.retry_max)?;
        field(f, "ahead", self.ahead)?;
        field(f, "delay", self.delay.map(Delay::new))?;
        field(f, "limit", self.limit)?;
        field(f, "rate", self.rate)?;
        field(f, "done", self.done)?;
        field(f, "failed", self.failed)?;
        field(f, "waiting", self.waiting)?;
        field(f, "error", self.error.map(shown))?;
        field(f, "reason", self.reason)?;
        field(f, "outer", self.outer.map(shown))?;
        field(f, "attempts", self.attempts)?;
        self.summary.map_or(Ok(()), |text| write!(f, ": {text}"))
    }
}

/// The words of the log beside the fields.
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
            write!(f, ": {outer} around it retries, too; let one of them retry")?;
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

/// A limit as every key, log field and error has it: a number, or `unlimited`.
#[derive(Clone, Copy)]
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
pub(crate) struct Delay(Duration);

impl Delay {
    pub(crate) fn new(delay: Duration) -> Self {
        let fine = delay < Duration::from_millis(1);
        let unit = if fine { 1 } else { 1_000_000 };
        let nanos = delay.subsec_nanos() / unit * unit;
        Self(Duration::new(delay.as_secs(), nanos))
    }

    /// Rounded once, so that 1848 ms are 1.848, and not 1 plus 0.848. Below a tenth of a millisecond it is 0, because a
    /// subscriber would write `1.04e-5`.
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
