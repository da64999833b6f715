//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction, per call given up or left to its fallback,
//! an `INFO` per call that succeeded after retries or by its fallback; a `WARN` when a breaker opens, an `INFO` when it is half
//! open and when it closes; an `INFO` when a limiter is paused and when it goes on, a `DEBUG` per wait and per other change of
//! a limiter; an `INFO` per attempt that begins beside a slow one, a `WARN` per attempt that fails beside others; a `WARN` when
//! retries multiply.

use core::fmt;

use tracing::field::{DisplayValue, display};

use crate::error_text::shown::{Shown, shown};
use crate::observe::event::{Delay, Event, Message};
use crate::observe::levels::{self, Level};
use crate::observe::record::Record;

/// Every record has the same fields, so that one query fits them all, and a few have one more: numbers as numbers, which
/// can be summed, the delay in seconds. Read from the event here, since each of the call sites below is compiled.
pub(crate) struct Fields<'a> {
    /// It has the delay as people read it.
    message: DisplayValue<Message<'a>>,
    call: DisplayValue<Shown<&'a str>>,
    attempt: u32,
    correction: Option<u32>,
    max: Option<u32>,
    delay: Option<f64>,
    error: Option<DisplayValue<Shown<&'a dyn fmt::Display>>>,
    reason: Option<DisplayValue<&'static str>>,
    ahead: Option<usize>,
    limit: Option<u32>,
    rate: Option<f64>,
}

impl<'a> Fields<'a> {
    fn of(event: &Event<'a>) -> Self {
        Self {
            message: display(Message(*event)),
            call: display(shown(event.call())),
            attempt: event.attempt(),
            correction: event.correction(),
            max: event.max().and_then(|max| max.0),
            delay: event.delay().as_ref().map(Delay::seconds),
            error: event.error().map(display),
            reason: event.reason().map(display),
            ahead: event.ahead(),
            limit: event.limit(),
            rate: event.rate(),
        }
    }
}

/// Each kind of record has its own call site, for subscribers that limit or count by that.
macro_rules! record {
    ($level:expr, $fields:ident $(, $field:ident)*) => {
        tracing::event!(
            target: "retry",
            $level,
            message = $fields.message,
            call = $fields.call,
            attempt = $fields.attempt,
            correction = $fields.correction,
            max = $fields.max,
            delay = $fields.delay,
            error = $fields.error,
            reason = $fields.reason,
            $($field = $fields.$field,)*
        )
    };
}

/// Logs a record. A function of its own for each, which only those reports name that can have it: a program has no code for
/// the records of keys that it never names.
pub(crate) type Log = fn(&Fields<'_>);

/// The one of that record, at its own level.
macro_rules! log {
    ($record:ident $(, $field:ident)?) => {
        |fields| record!(const { Record::$record.level() }, fields $(, $field)?)
    };
}

#[expect(clippy::inline_always, reason = "see `log_for`")]
#[inline(always)]
fn log_of(record: Record) -> Log {
    match record {
        Record::Retrying => log!(Retrying),
        Record::Correcting => log!(Correcting),
        Record::Hedging => log!(Hedging),
        Record::AttemptFailed => log!(AttemptFailed),
        Record::FallingBack => log!(FallingBack),
        Record::FellBack => log!(FellBack),
        Record::GaveUp => log!(GaveUp),
        Record::Succeeded => log!(Succeeded),
        Record::BreakerOpened => log!(BreakerOpened),
        Record::BreakerHalfOpened => log!(BreakerHalfOpened),
        Record::BreakerClosed => log!(BreakerClosed),
        #[cfg(feature = "nested")]
        Record::Nested => log!(Nested),
        Record::Waiting => log!(Waiting, ahead),
        Record::Waited => log!(Waited),
        Record::LimiterPaused => log!(LimiterPaused),
        Record::LimiterResumed => log!(LimiterResumed),
        Record::LimitChanged => log!(LimitChanged, limit),
        Record::RateChanged => log!(RateChanged, rate),
    }
}

/// What logs that event, where it has a record. Inlined into who has just built the event and so knows which it is.
#[expect(
    clippy::inline_always,
    reason = "a call would name the logs of all records"
)]
#[inline(always)]
pub(crate) fn log_for(event: &Event<'_>) -> Option<Log> {
    Record::of(event).map(log_of)
}

/// Does nothing where the event has no record.
#[cold]
#[inline(never)]
pub(crate) fn log(event: &Event<'_>, log: Option<Log>) {
    let Some(log) = log else {
        return;
    };
    let fields = &Fields::of(event);
    match (levels::log_changed(), Record::of(event)) {
        (Some(log_changed), Some(record)) => log_changed(record, fields),
        _ => log(fields),
    }
}

/// The same once any level was changed. All records of a level share a call site then.
#[cold]
#[inline(never)]
pub(crate) fn log_changed(record: Record, fields: &Fields<'_>) {
    match levels::of(record) {
        Level::Off => {}
        Level::Error => record!(tracing::Level::ERROR, fields, ahead, limit, rate),
        Level::Warn => record!(tracing::Level::WARN, fields, ahead, limit, rate),
        Level::Info => record!(tracing::Level::INFO, fields, ahead, limit, rate),
        Level::Debug => record!(tracing::Level::DEBUG, fields, ahead, limit, rate),
        Level::Trace => record!(tracing::Level::TRACE, fields, ahead, limit, rate),
    }
}
