use crate::chain::key::{Named, Unnamed};
use crate::observe::event::Event;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::observe::progress::{Counted, Counts};
use crate::observe::report::Observe;

/// What sees the events of a chain, if its key `observe` names something.
pub trait MayObserve {
    /// What counts for it how far a batch or a plan is.
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress: Counts;

    fn observe(&mut self) -> Option<Observe<'_>>;
}

impl MayObserve for Unnamed {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = ();

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> MayObserve for Named<F> {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = Counted;

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        Some(&mut self.0)
    }
}
