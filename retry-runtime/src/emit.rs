//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::call::Observe;
use crate::{Event, testing};

pub(crate) fn emit(event: &Event<'_>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "tracing")]
    crate::log::log(event);
    testing::saw(event);
    if let Some(observe) = observe {
        observe(event);
    }
}
