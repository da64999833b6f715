//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction, per call given up or left to its fallback,
//! an `INFO` per call that succeeded after retries or by its fallback; a `WARN` when a breaker opens, an `INFO` when it is half
//! open and when it closes; an `INFO` when a limiter is paused and when it goes on, a `DEBUG` per wait and per other change of
//! a limiter; an `INFO` per attempt that begins beside a slow one, a `WARN` per attempt that fails beside others; a `WARN` when
//! retries multiply.

use tracing::field;

use crate::observe::event::{Delay, Event, Message};
use crate::observe::record::Record;
use crate::observe::shown::shown;

/// Every record has the same fields, so that one query fits them all, and a few have one more: numbers as numbers, which can be summed, the delay in
/// seconds. The message has the delay as people read it. Each field is taken from the event only when it is recorded, so a
/// call without listeners looks nothing up. Each kind of record has its own call site, for subscribers that limit or count
/// by that.
macro_rules! record {
    ($level:ident, $event:ident $(, $field:ident)*) => {
        tracing::event!(
            target: "retry",
            tracing::Level::$level,
            call = { field::display(shown($event().call())) },
            attempt = { $event().attempt() },
            correction = { $event().correction() },
            max = { $event().max().and_then(|max| max.0) },
            delay = { $event().delay().as_ref().map(Delay::seconds) },
            error = { $event().error().map(field::display) },
            reason = { $event().reason().map(field::display) },
            $($field = { $event().$field() },)*
            "{}",
            { Message($event()) }
        )
    };
}

#[expect(clippy::inline_always, reason = "as where events are told of")]
#[inline(always)]
pub(crate) fn log<'a>(record: Record, event: &impl Fn() -> Event<'a>) {
    match record {
        Record::Retrying => record!(WARN, event),
        Record::Correcting => record!(WARN, event),
        Record::Hedging => record!(INFO, event),
        Record::AttemptFailed => record!(WARN, event),
        Record::FallingBack => record!(WARN, event),
        Record::FellBack => record!(INFO, event),
        Record::GaveUp => record!(WARN, event),
        Record::Succeeded => record!(INFO, event),
        Record::BreakerOpened => record!(WARN, event),
        Record::BreakerHalfOpened => record!(INFO, event),
        Record::BreakerClosed => record!(INFO, event),
        #[cfg(feature = "nested")]
        Record::Nested => record!(WARN, event),
        Record::Waiting => record!(DEBUG, event, ahead),
        Record::Waited => record!(DEBUG, event),
        Record::LimiterPaused => record!(INFO, event),
        Record::LimiterResumed => record!(INFO, event),
        Record::LimitChanged => record!(DEBUG, event, limit),
        Record::RateChanged => record!(DEBUG, event, rate),
    }
}
