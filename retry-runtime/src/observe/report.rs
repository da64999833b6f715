//! Sends events to the log, a test's recording, and the call's observer.

use crate::observe::event::Event;
#[cfg(feature = "tracing")]
use crate::observe::log::log;
use crate::observe::recording;

/// The call to an observer set with the key `observe`.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Reborrows the observer.
pub(crate) fn reborrow<'a>(observe: &'a mut Option<Observe<'_>>) -> Option<Observe<'a>> {
    observe.as_mut().map(|observe| &mut **observe as _)
}

/// Reports an event. One function for all events, because it contains the log code for every kind of record.
#[cold]
#[inline(never)]
pub(crate) fn report(event: &Event<'_>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "tracing")]
    log(&event.fields());
    recording::record(event.call, Some(event), Some(event));
    if let Some(observe) = observe {
        observe(event);
    }
}

/// Reports the end of a call that other events already log.
#[cfg(feature = "batch")]
pub(crate) fn report_unlogged_end(event: &Event<'_>, observe: Option<Observe<'_>>) {
    recording::record(event.call, None, Some(event));
    if let Some(observe) = observe {
        observe(event);
    }
}

/// Logs and records a message that isn't an event, at this level.
macro_rules! report_line {
    ($level:ident, $call:expr, $fields:expr) => {{
        let fields = &$fields;
        #[cfg(feature = "tracing")]
        $crate::observe::log::log_at($crate::observe::record::Level::$level, fields);
        $crate::observe::recording::record($call, Some(fields), None);
    }};
}

pub(crate) use report_line;
