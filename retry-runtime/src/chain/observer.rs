use crate::key::{Key, Unnamed};
use crate::observe::event::Event;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::observe::progress::{Counted, Counts};
use crate::observe::report::Observe;

/// What a chain's `observe` takes. No [`Observer`](crate::Observer): only where a function is asked for does the compiler
/// infer the type of a closure's argument.
#[diagnostic::on_unimplemented(
    message = "a chain's `observe` takes a closure, and `{Self}` is none",
    label = "not `FnMut(&Event<'_>)`",
    note = "hand an `Observer` over as `.observe(|event| observer.observe(event))`"
)]
pub trait ObserveFn: FnMut(&Event<'_>) {}

#[diagnostic::do_not_recommend]
impl<F: FnMut(&Event<'_>)> ObserveFn for F {}

/// What sees the events of a chain, if its key `observe` names something.
pub trait ObserverKey: Key {
    /// What counts for it how far a batch or a plan is.
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress: Counts;

    /// What the key names.
    fn observe(&mut self) -> Option<Observe<'_>>;
}

impl ObserverKey for Unnamed {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = ();

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> ObserverKey for Option<F> {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = Counted;

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        match self {
            Some(observer) => Some(observer),
            None => None,
        }
    }
}
