use crate::chain::key::{Named, Unnamed};
use crate::observe::event::Event;
use crate::observe::report::Observe;

/// What sees the events of a chain, if its key `observe` names something.
pub trait MayObserve {
    fn observe(&mut self) -> Option<Observe<'_>>;
}

impl MayObserve for Unnamed {
    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> MayObserve for Named<F> {
    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        Some(&mut self.0)
    }
}
