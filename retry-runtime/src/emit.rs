//! Where events go: the log, a test's recording, and the observer that the call names.

use crate::{Event, testing};

/// What an observer named by the key `observe` is called with.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Tells of an event, which is built anew wherever somebody listens: where nobody does, it costs a look.
#[cfg_attr(
    not(debug_assertions),
    expect(
        clippy::inline_always,
        reason = "each place tells of one kind of event, whose record is all that is left of the log"
    ),
    inline(always)
)]
pub(crate) fn emit<'a>(event: impl Fn() -> Event<'a>, observe: Option<Observe<'_>>) {
    #[cfg(feature = "tracing")]
    crate::log::log(event());
    testing::saw(&event);
    if let Some(observe) = observe {
        observe(&event());
    }
}
