//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::observe::event::Event;
#[cfg(feature = "tracing")]
use crate::observe::log::log;
use crate::observe::record::Record;
use crate::observe::recording;

/// What an observer named by the key `observe` is called with.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Reports an event. It is built anew for each listener; without listeners, it costs one check.
///
/// Moving the event's parts into the closure is cheapest, because nothing is put into memory for it. Generic code,
/// which other crates compile, should call this through a function that is not generic.
#[expect(
    clippy::inline_always,
    reason = "each place tells of one kind of event, whose record is all that is left of the log"
)]
#[inline(always)]
pub(crate) fn report<'a>(
    record: Record,
    event: impl Fn() -> Event<'a>,
    observe: Option<Observe<'_>>,
) {
    if recording::is_on() {
        return report_recorded(record, &event(), observe);
    }
    log(record, &event);
    if let Some(observe) = observe {
        observe(&event());
    }
}

/// Reports the end of a call that the log has from other events.
#[cfg(feature = "batch")]
pub(crate) fn report_unlogged_end(event: &Event<'_>, observe: Option<Observe<'_>>) {
    recording::saw_end(event);
    if let Some(observe) = observe {
        observe(event);
    }
}

/// The same as `report` while a test records. Not generic: it has the log of every kind of record.
#[cold]
#[inline(never)]
fn report_recorded(record: Record, event: &Event<'_>, observe: Option<Observe<'_>>) {
    log(record, &|| *event);
    recording::saw(event);
    if let Some(observe) = observe {
        observe(event);
    }
}

#[cfg(not(feature = "tracing"))]
fn log<'a>(_: Record, _: &impl Fn() -> Event<'a>) {}
