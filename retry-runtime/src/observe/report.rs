//! Sends events to the log, a test's recording, and the call's observer.

use crate::observe::{Event, Fields};

#[cfg(feature = "tracing")]
use crate::observe::log::log;
#[cfg(feature = "std")]
use crate::observe::recording;

/// The observer set with the key `observe`.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Reborrows the observer.
pub(crate) fn reborrow<'a>(observe: &'a mut Option<Observe<'_>>) -> Option<Observe<'a>> {
    observe.as_mut().map(|observe| &mut **observe as _)
}

/// Reports an event. Not generic and not inlined, because it contains the logging code for every kind of record.
#[cold]
#[inline(never)]
pub(crate) fn report(event: &Event<'_>, observe: Option<Observe<'_>>) {
    if !event.is_for_observers() {
        #[cfg(feature = "tracing")]
        log(&event.fields());
        #[cfg(feature = "std")]
        recording::record(event.call, Some(event), Some(event));
    }
    if let Some(observe) = observe {
        observe(event);
    }
}

/// Reports the end of a call to recordings and the observer, but not to the log: other events have already logged it.
pub(crate) fn report_unlogged_end(event: &Event<'_>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "std")]
    recording::record(event.call, None, Some(event));
    if let Some(observe) = observe {
        observe(event);
    }
}

/// Logs and records a message that isn't an event.
pub fn report_line(call: &str, fields: &Fields<'_>) {
    #[cfg(feature = "tracing")]
    log(fields);
    #[cfg(feature = "std")]
    recording::record(call, Some(fields), None);
    #[cfg(not(feature = "std"))]
    let _ = (call, fields);
}
