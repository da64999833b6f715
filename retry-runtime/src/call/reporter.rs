use alloc::boxed::Box;

use crate::call::site::Site;
use crate::observe::{Event, Observe, Stopwatch};
use crate::time::Moment;

/// The name and the observer of a call. Each step of a driver takes them, because they may borrow what the body changes.
pub trait Reporter {
    /// Returns true if there is an observer.
    #[inline]
    fn is_observed(&self) -> bool {
        false
    }

    /// The policy's `max`, if it is known before any failure.
    fn max(&self) -> Option<u32> {
        None
    }

    /// Calls `with` with the observer.
    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>));

    /// Calls `with` with both.
    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>));
}

/// The source of the times in a call's events.
pub struct Times<'t> {
    now: &'t dyn Fn() -> Moment,
    stopwatch: &'t mut Option<Box<Stopwatch>>,
}

impl<'t> Times<'t> {
    /// Measures a call's times with this clock. The stopwatch is kept between its events.
    pub fn new(now: &'t dyn Fn() -> Moment, stopwatch: &'t mut Option<Box<Stopwatch>>) -> Self {
        Self { now, stopwatch }
    }

    /// The call's clock.
    pub fn now(&self) -> &'t dyn Fn() -> Moment {
        self.now
    }

    /// Calls `with` with this observer, and adds the call's times to its events.
    pub fn add_to(
        &mut self,
        observe: &mut dyn FnMut(&Event<'_>),
        with: impl FnOnce(&mut dyn FnMut(&Event<'_>)),
    ) {
        let stopwatch = self.stopwatch.get_or_insert_default();
        with(&mut |event| stopwatch.tell(event, self.now, observe));
    }
}

/// A name that may have to be computed. It is read only if there is something to report.
pub trait Named {
    /// The policy's `max`, if it is known with the name.
    fn max(&self) -> Option<u32> {
        None
    }

    /// Calls `with` with the name.
    fn with_name(&self, with: &mut dyn FnMut(&str));
}

impl Named for &str {
    fn with_name(&self, with: &mut dyn FnMut(&str)) {
        with(self);
    }
}

impl Named for &Site<'_> {
    fn max(&self) -> Option<u32> {
        Some(self.policy.retries_allowed())
    }

    fn with_name(&self, with: &mut dyn FnMut(&str)) {
        with(self.name());
    }
}

/// A name computed by a function.
#[derive(Debug)]
pub struct NamedBy<F>(F);

/// A name that `name` passes to its argument.
pub fn named_by<F: Fn(&mut dyn FnMut(&str))>(name: F) -> NamedBy<F> {
    NamedBy(name)
}

impl<F: Fn(&mut dyn FnMut(&str))> Named for NamedBy<F> {
    fn with_name(&self, with: &mut dyn FnMut(&str)) {
        (self.0)(with);
    }
}

impl<N: Named> Reporter for N {
    fn max(&self) -> Option<u32> {
        Named::max(self)
    }

    fn observe(&mut self, _: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        with(None);
    }

    fn report(&mut self, _: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        self.with_name(&mut |name| with(name, None));
    }
}

/// A name with an observer.
#[derive(Debug)]
pub struct Observed<N, F> {
    name: N,
    observe: F,
}

/// Combines the name and the observer.
// The bound on `F` lets the compiler infer the type of a closure's argument.
#[inline]
pub fn observed<N: Named, F: FnMut(&Event<'_>)>(name: N, observe: F) -> Observed<N, F> {
    Observed { name, observe }
}

impl<N: Named, F: FnMut(&Event<'_>)> Reporter for Observed<N, F> {
    #[inline]
    fn is_observed(&self) -> bool {
        true
    }

    fn max(&self) -> Option<u32> {
        self.name.max()
    }

    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        times.add_to(&mut self.observe, |observe| with(Some(observe)));
    }

    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        let Self { name, observe } = self;
        name.with_name(&mut |name| times.add_to(observe, |observe| with(name, Some(observe))));
    }
}
