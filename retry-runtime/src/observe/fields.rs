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
    /// The record that the line is of, or, where no level can be set, what happened in words.
    pub(crate) record: Result<Record, &'static str>,
    pub(crate) call: &'a dyn fmt::Display,
    pub(crate) attempt: Option<u32>,
    pub(crate) correction: Option<u32>,
    pub(crate) max: Option<Max>,
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

/// Each event with its record and the fields that its line has: a row `pattern => record, field: value, …;`.
macro_rules! rows {
    ($event:ident: $($(#[$cfg:meta])? $data:pat => $record:expr $(, $field:ident $(: $value:expr)?)*;)*) => {
        match $event.data {
            $($(#[$cfg])? $data => Fields {
                $($field: rows!(@ $field $($value)?).into(),)*
                ..Fields::new($record, &$event.call, Some($event.attempt))
            },)*
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}

impl Event<'_> {
    pub(crate) fn fields(&self) -> Fields<'_> {
        use EventData::*;

        rows! { self:
            Started => Err("starting");
            Retrying { max, delay, error, kind, .. } =>
                Ok(Record::Retrying), max: Max(max), delay, error, reason: kind.name();
            Correcting { correction, max, delay, error } => Ok(Record::Correcting),
                correction, max: Max(max), delay, error, reason: Kind::Invalid.name();
            Hedging { max, delay } => Ok(Record::Hedging), max: Max(max), delay;
            AttemptFailed { error, kind } => Ok(Record::AttemptFailed), error, reason: kind.name();
            ItemsFailed { max, error, kind, follows: Ok(delay) } => Ok(Record::Retrying),
                max: Max(max), delay, error, reason: kind.map(Kind::name);
            ItemsFailed { max, error, follows: Err(reason), .. } =>
                Ok(Record::GaveUp), max: Max(max), error, reason: reason.name();
            FallingBack { corrections, max, error, reason, .. } => Ok(Record::FallingBack),
                correction: any(corrections), max: Max(max), error, reason: reason.name();
            FellBack { corrections, max } =>
                Ok(Record::FellBack), correction: any(corrections), max: Max(max);
            GaveUp { corrections, max, error, reason, .. } => Ok(Record::GaveUp),
                correction: any(corrections), max: Max(max), error, reason: reason.name();
            Succeeded { corrections, max, .. } =>
                Ok(Record::Succeeded), correction: any(corrections), max: Max(max);
            BreakerOpened { open_for, error, cause } =>
                Ok(Record::BreakerOpened), delay: open_for, error, reason: cause.name();
            BreakerHalfOpened => Ok(Record::BreakerHalfOpened), reason: "open for long enough";
            BreakerClosed => Ok(Record::BreakerClosed), reason: "trial call succeeded";
            Waiting { ahead, at_least } => Ok(Record::Waiting), ahead, delay: at_least;
            Waited { waited } => Ok(Record::Waited), delay: waited;
            LimiterPaused { pause } => Ok(Record::LimiterPaused), delay: pause;
            LimiterResumed => Ok(Record::LimiterResumed);
            LimitChanged { limit } => Ok(Record::LimitChanged), limit;
            RateChanged { rate } => Ok(Record::RateChanged), rate;
            Progressed { done, failed, waiting } => Err("progressed"), done, failed, waiting;
            #[cfg(feature = "nested")]
            Nested { outer, attempts } => Ok(Record::Nested), outer, attempts;
        }
    }
}

/// A count, if it is not 0.
fn any(count: u32) -> Option<u32> {
    (count > 0).then_some(count)
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(
        record: Result<Record, &'static str>,
        call: &'a dyn fmt::Display,
        attempt: Option<u32>,
    ) -> Self {
        Self {
            record,
            call,
            attempt,
            correction: None,
            max: None,
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

    fn name(&self) -> &'static str {
        self.record.map_or_else(|name| name, Record::name)
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

        write!(f, "{} {}", self.name(), shown(self.call))?;
        let is_one = self.record == Ok(Record::Correcting);
        let correction = if is_one { "correction" } else { "corrections" };
        field(f, "attempt", self.attempt)?;
        field(f, correction, self.correction)?;
        field(f, "max", self.max)?;
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
        f.write_str(fields.name())?;
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
            (Ok(Record::BreakerOpened | Record::LimiterPaused | Record::Waited), Some(delay)) => {
                write!(f, " for {delay}")
            }
            (Ok(Record::Waiting), Some(delay)) => write!(f, " for at least {delay}"),
            (Ok(Record::Hedging), Some(delay)) => write!(f, " after {delay}"),
            (_, Some(Delay(Duration::ZERO))) => f.write_str(" at once"),
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
        write!(f, "{:?}", self.0)
    }
}
