//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction, per call given up or left to its fallback,
//! an `INFO` per call that succeeded after retries or by its fallback; a `WARN` when a breaker opens, an `INFO` when it is half
//! open and when it closes; an `INFO` when a limiter is paused and when it goes on, a `DEBUG` per wait and per other change of
//! a limiter; an `INFO` per attempt that begins beside a slow one, a `WARN` per attempt that fails beside others; a `WARN` when
//! retries multiply.

use tracing::field;

use crate::error_text::shown::shown;
use crate::observe::event::{Delay, Event, Message};
use crate::observe::levels::{self, Level};
use crate::observe::record::Record;

/// Every record has the same fields, so that one query fits them all, and a few have one more: numbers as numbers, which can be summed, the delay in
/// seconds. The message has the delay as people read it. Each field is taken from the event only when it is recorded, so a
/// call without listeners looks nothing up. Each kind of record has its own call site, for subscribers that limit or count
/// by that.
macro_rules! record {
    ($level:expr, $event:ident $(, $field:ident)*) => {
        tracing::event!(
            target: "retry",
            $level,
            call = { field::display(shown($event.call())) },
            attempt = { $event.attempt() },
            correction = { $event.correction() },
            max = { $event.max().and_then(|max| max.0) },
            delay = { $event.delay().as_ref().map(Delay::seconds) },
            error = { $event.error().map(field::display) },
            reason = { $event.reason().map(field::display) },
            $($field = { $event.$field() },)*
            "{}",
            { Message(*$event) }
        )
    };
}

/// The record at its own level.
macro_rules! by_default {
    ($record:ident, $event:ident $(, $field:ident)*) => {
        record!(const { Record::$record.level() }, $event $(, $field)*)
    };
}

/// Does nothing where the event has no record.
pub(crate) fn log(event: &Event<'_>) {
    let Some(record) = Record::of(event) else {
        return;
    };
    if levels::are_changed() {
        return log_changed(record, event);
    }
    match record {
        Record::Retrying => by_default!(Retrying, event),
        Record::Correcting => by_default!(Correcting, event),
        Record::Hedging => by_default!(Hedging, event),
        Record::AttemptFailed => by_default!(AttemptFailed, event),
        Record::FallingBack => by_default!(FallingBack, event),
        Record::FellBack => by_default!(FellBack, event),
        Record::GaveUp => by_default!(GaveUp, event),
        Record::Succeeded => by_default!(Succeeded, event),
        Record::BreakerOpened => by_default!(BreakerOpened, event),
        Record::BreakerHalfOpened => by_default!(BreakerHalfOpened, event),
        Record::BreakerClosed => by_default!(BreakerClosed, event),
        #[cfg(feature = "nested")]
        Record::Nested => by_default!(Nested, event),
        Record::Waiting => by_default!(Waiting, event, ahead),
        Record::Waited => by_default!(Waited, event),
        Record::LimiterPaused => by_default!(LimiterPaused, event),
        Record::LimiterResumed => by_default!(LimiterResumed, event),
        Record::LimitChanged => by_default!(LimitChanged, event, limit),
        Record::RateChanged => by_default!(RateChanged, event, rate),
    }
}

/// The same once any level was changed. All records of a level share a call site then.
#[cold]
#[inline(never)]
fn log_changed(record: Record, event: &Event<'_>) {
    match levels::of(record) {
        Level::Off => {}
        Level::Error => record!(tracing::Level::ERROR, event, ahead, limit, rate),
        Level::Warn => record!(tracing::Level::WARN, event, ahead, limit, rate),
        Level::Info => record!(tracing::Level::INFO, event, ahead, limit, rate),
        Level::Debug => record!(tracing::Level::DEBUG, event, ahead, limit, rate),
        Level::Trace => record!(tracing::Level::TRACE, event, ahead, limit, rate),
    }
}
