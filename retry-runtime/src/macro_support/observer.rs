//! The key `observe`.

use crate::observe::event::Event;
use crate::observe::observer::Observer;

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
