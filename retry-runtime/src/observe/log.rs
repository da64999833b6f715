//! The log, by `tracing`: target `retry`, a `WARN` per retry, per correction and per call given up, an `INFO` per call that
//! succeeded after retries.

use tracing::field;

use crate::observe::event::Event;
use crate::observe::record::Record;

/// Every record has the same fields, so that one query fits them all. Each field is taken from the event only when it
/// is recorded, so a call without listeners looks nothing up. Each kind of record has its own call site, for
/// subscribers that limit or count by that.
macro_rules! record {
    ($level:ident, $event:ident) => {
        tracing::event!(
            target: "retry",
            tracing::Level::$level,
            attempt = { $event().attempt() },
            correction = { $event().correction() },
            max = { $event().max().map(field::display) },
            delay = { $event().delay().map(field::display) },
            error = { $event().error().map(field::display) },
            reason = { $event().reason().map(field::display) },
            call = { $event().call() },
            "{} {}",
            { $event().name() },
            { $event().call() }
        )
    };
}

#[expect(clippy::inline_always, reason = "as where events are told of")]
#[inline(always)]
pub(crate) fn log<'a>(record: Record, event: &impl Fn() -> Event<'a>) {
    match record {
        Record::Retrying => record!(WARN, event),
        Record::Correcting => record!(WARN, event),
        Record::GaveUp => record!(WARN, event),
        Record::Succeeded => record!(INFO, event),
    }
}
