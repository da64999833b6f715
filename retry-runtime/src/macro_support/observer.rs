//! The key `observe`.

use crate::observe::event::Event;
use crate::observe::observer::Observer;
use crate::observe::stopwatch::Stopwatch;
use crate::time::moment::Moment;

/// What the key `observe` takes, other than a closure written there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't observe calls",
    label = "neither an `Observer` nor a function `fn(&Event<'_>)`",
    note = "give a type that implements `retry_runtime::Observer`, or a closure `|event| …`"
)]
pub trait IntoObserver<Via> {
    fn observe(&self, event: &Event<'_>);
}

pub struct ViaTrait;
pub struct ViaFn;

impl<T: Observer + ?Sized> IntoObserver<ViaTrait> for T {
    fn observe(&self, event: &Event<'_>) {
        Observer::observe(self, event);
    }
}

impl<F: Fn(&Event<'_>)> IntoObserver<ViaFn> for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

/// An observer whose events have the times of the call. The bound on `F` is what lets the compiler infer the type of a
/// closure's argument.
pub fn timed<F: FnMut(&Event<'_>)>(
    mut observer: F,
    stopwatch: &mut Stopwatch,
    now: impl Fn() -> Moment,
) -> impl FnMut(&Event<'_>) {
    move |event| stopwatch.tell(event, &now, &mut observer)
}
