//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::{Event, testing};

/// What an observer named by the key `observe` is called with.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

pub(crate) fn emit(event: &Event<'_>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "tracing")]
    crate::log::log(event);
    testing::saw(event);
    if let Some(observe) = observe {
        observe(event);
    }
}
