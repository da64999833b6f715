use crate::key::Unnamed;
use crate::observe::event::Event;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::observe::progress::{Counted, Counts};
use crate::observe::report::Observe;

/// What sees the events of a chain, if its key `observe` names something.
pub trait ObserverKey {
    /// Whether the key names something.
    const IS_NAMED: bool;
    /// What counts for it how far a batch or a plan is.
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress: Counts;

    /// What the key names.
    fn observe(&mut self) -> Option<Observe<'_>>;
}

impl ObserverKey for Unnamed {
    const IS_NAMED: bool = false;
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = ();

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> ObserverKey for Option<F> {
    const IS_NAMED: bool = true;
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
