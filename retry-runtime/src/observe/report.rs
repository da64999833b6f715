//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::observe::event::Event;
#[cfg(feature = "tracing")]
use crate::observe::log;
use crate::observe::recording;

/// What an observer named by the key `observe` is called with.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Reports an event.
#[expect(
    clippy::inline_always,
    reason = "so that only the log of this event is linked"
)]
#[inline(always)]
pub(crate) fn report(event: &Event<'_>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "tracing")]
    log::log(event, log::log_for(event));
    told(event, observe);
}

#[cold]
#[inline(never)]
fn told(event: &Event<'_>, observe: Option<Observe<'_>>) {
    recording::saw(event);
    if let Some(observe) = observe {
        observe(event);
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
