//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::observe::event::Event;
#[cfg(feature = "tracing")]
use crate::observe::log::log;
use crate::observe::record::Record;
use crate::observe::recording;

/// What an observer named by the key `observe` is called with.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Tells of an event, which is built anew wherever somebody listens: where nobody does, it costs a look.
///
/// An event that is moved into its closure costs least, as nothing is put into memory for it. Generic code that other
/// crates compile calls this by a function that is not generic: what is known to be used in this crate alone is at
/// hand, and what is not is looked up.
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
        return report_recorded(record, event, observe);
    }
    log(record, &event);
    if let Some(observe) = observe {
        observe(&event());
    }
}

/// The same while a test records.
#[cold]
#[inline(never)]
fn report_recorded<'a>(
    record: Record,
    event: impl Fn() -> Event<'a>,
    observe: Option<Observe<'_>>,
) {
    log(record, &event);
    recording::saw(&event());
    if let Some(observe) = observe {
        observe(&event());
    }
}

#[cfg(not(feature = "tracing"))]
fn log<'a>(_: Record, _: &impl Fn() -> Event<'a>) {}
