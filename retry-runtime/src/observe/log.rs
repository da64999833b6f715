//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction, per call given up or left to its fallback,
//! an `INFO` per call that succeeded after retries or by its fallback; a `WARN` when a breaker opens, an `INFO` when it is half
//! open and when it closes; an `INFO` when a limiter is paused and when it goes on, a `DEBUG` per wait and per other change of
//! a limiter; an `INFO` per attempt that begins beside a slow one, a `WARN` per attempt that fails beside others; a `WARN` when
//! retries multiply. With the target `retry::reason`, a `DEBUG` says where the guide explains a reason.

use core::fmt;

use tracing::field::{DisplayValue, display};

use crate::error_text::shown::{Shown, shown};
use crate::observe::explained_reason;
use crate::observe::fields::{Delay, Fields, Message};
use crate::observe::levels::{self, Level};
use crate::observe::record::Record;

/// The fields as `tracing` takes them: numbers as numbers, which can be summed, the delay in seconds. Made here, since each
/// of the call sites below is compiled.
pub(crate) struct TracingFields<'a> {
    pub(crate) fields: &'a Fields<'a>,
    /// What happened in words, with the delay as people read it.
    pub(crate) message: DisplayValue<Message<'a>>,
    pub(crate) call: DisplayValue<Shown<&'a dyn fmt::Display>>,
    pub(crate) max: Option<u32>,
    pub(crate) delay: Option<f64>,
    pub(crate) error: Option<DisplayValue<Shown<&'a dyn fmt::Display>>>,
    pub(crate) reason: Option<DisplayValue<&'static str>>,
}

impl<'a> TracingFields<'a> {
    pub(crate) fn of(fields: &'a Fields<'a>) -> Self {
        Self {
            fields,
            message: display(Message(fields)),
            call: display(shown(fields.call)),
            max: fields.max.and_then(|max| max.0),
            delay: fields.delay.map(|delay| Delay::new(delay).seconds()),
            error: fields.error.map(|error| display(shown(error))),
            reason: fields.reason.map(display),
        }
    }
}

/// A record at that level. All have the same fields, so that one query fits them, and a few have one more. Each kind of
/// record has its own call site on a line of its own, for subscribers that limit or count by that.
macro_rules! record {
    ($level:expr, $values:ident $(, $field:ident)*) => {
        tracing::event!(
            target: "retry",
            $level,
            message = $values.message,
            call = $values.call,
            attempt = $values.fields.attempt,
            correction = $values.fields.correction,
            max = $values.max,
            delay = $values.delay,
            error = $values.error,
            reason = $values.reason,
            $($field = $values.fields.$field,)*
        )
    };
}

pub(crate) use record;

/// Does nothing where the event has no record.
pub(crate) fn log(fields: &Fields<'_>) {
    let Some(record) = fields.record else {
        return;
    };
    let values = &TracingFields::of(fields);
    if let Some(level) = levels::changed(record, fields.call) {
        return log_changed(level, values);
    }

    /// The record at its own level.
    macro_rules! by_default {
        ($record:ident $(, $field:ident)*) => {
            record!(const { Record::$record.level() }, values $(, $field)*)
        };
    }

    match record {
        Record::Retrying => by_default!(Retrying, retry, retry_max),
        Record::Correcting => by_default!(Correcting),
        Record::Hedging => by_default!(Hedging),
        Record::AttemptFailed => by_default!(AttemptFailed),
        Record::FallingBack => by_default!(FallingBack),
        Record::FellBack => by_default!(FellBack),
        Record::GaveUp => {
            by_default!(GaveUp);
            fields.reason.into_iter().for_each(explained_reason::tell);
        }
        Record::Succeeded => by_default!(Succeeded),
        Record::BreakerOpened => by_default!(BreakerOpened),
        Record::BreakerHalfOpened => by_default!(BreakerHalfOpened),
        Record::BreakerClosed => by_default!(BreakerClosed),
        #[cfg(feature = "nested")]
        Record::Nested => by_default!(Nested),
        Record::Waiting => by_default!(Waiting, ahead),
        Record::Waited => by_default!(Waited),
        Record::LimiterPaused => by_default!(LimiterPaused),
        Record::LimiterResumed => by_default!(LimiterResumed),
        Record::LimitChanged => by_default!(LimitChanged, limit),
        Record::RateChanged => by_default!(RateChanged, rate),
    }
}

/// Records whose level was changed share a call site for each level.
#[cold]
#[inline(never)]
fn log_changed(level: Level, values: &TracingFields<'_>) {
    /// The record with the fields of every kind.
    macro_rules! at {
        ($level:ident) => {
            record!(
                tracing::Level::$level,
                values,
                retry,
                retry_max,
                ahead,
                limit,
                rate
            )
        };
    }

    match level {
        Level::Off => {}
        Level::Error => at!(ERROR),
        Level::Warn => at!(WARN),
        Level::Info => at!(INFO),
        Level::Debug => at!(DEBUG),
        Level::Trace => at!(TRACE),
    }
}
