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
struct Fields<'a> {
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

/// The record at its own level.
macro_rules! by_default {
    ($record:ident, $fields:ident $(, $field:ident)*) => {
        record!(const { Record::$record.level() }, $fields $(, $field)*)
    };
}

/// Does nothing where the event has no record.
pub(crate) fn log(event: &Event<'_>) {
    let Some(record) = Record::of(event) else {
        return;
    };
    let fields = &Fields::of(event);
    if levels::are_changed() {
        return log_changed(record, fields);
    }
    match record {
        Record::Retrying => by_default!(Retrying, fields),
        Record::Correcting => by_default!(Correcting, fields),
        Record::Hedging => by_default!(Hedging, fields),
        Record::AttemptFailed => by_default!(AttemptFailed, fields),
        Record::FallingBack => by_default!(FallingBack, fields),
        Record::FellBack => by_default!(FellBack, fields),
        Record::GaveUp => by_default!(GaveUp, fields),
        Record::Succeeded => by_default!(Succeeded, fields),
        Record::BreakerOpened => by_default!(BreakerOpened, fields),
        Record::BreakerHalfOpened => by_default!(BreakerHalfOpened, fields),
        Record::BreakerClosed => by_default!(BreakerClosed, fields),
        #[cfg(feature = "nested")]
        Record::Nested => by_default!(Nested, fields),
        Record::Waiting => by_default!(Waiting, fields, ahead),
        Record::Waited => by_default!(Waited, fields),
        Record::LimiterPaused => by_default!(LimiterPaused, fields),
        Record::LimiterResumed => by_default!(LimiterResumed, fields),
        Record::LimitChanged => by_default!(LimitChanged, fields, limit),
        Record::RateChanged => by_default!(RateChanged, fields, rate),
    }
}

/// The same once any level was changed. All records of a level share a call site then.
#[cold]
#[inline(never)]
fn log_changed(record: Record, fields: &Fields<'_>) {
    match levels::of(record) {
        Level::Off => {}
        Level::Error => record!(tracing::Level::ERROR, fields, ahead, limit, rate),
        Level::Warn => record!(tracing::Level::WARN, fields, ahead, limit, rate),
        Level::Info => record!(tracing::Level::INFO, fields, ahead, limit, rate),
        Level::Debug => record!(tracing::Level::DEBUG, fields, ahead, limit, rate),
        Level::Trace => record!(tracing::Level::TRACE, fields, ahead, limit, rate),
    }
}
