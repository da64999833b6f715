use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;

use crate::observe::{Event, Observe, Stopwatch};
use crate::policy::Policy;
use crate::site::{Name, Site};
use crate::time::Moment;

/// The name and the observer of a call. Each step of a driver takes them as an argument, because they may borrow
/// variables that the body changes.
pub struct Reporter<'r> {
    name: ReportedName<'r>,
    /// Contains the `max` that is reported before any failure.
    pub(super) policy: Option<&'r Policy>,
    observe: Option<Observe<'r>>,
    /// The stopwatch that the drivers of a batch share.
    stopwatch: Option<&'r mut Option<Box<Stopwatch>>>,
}

/// The name of a call, computed only if there is something to report.
#[derive(Clone, Copy)]
enum ReportedName<'r> {
    Known(Name<'r>),
    Computed(&'r dyn Fn() -> String),
}

impl<'r> Reporter<'r> {
    /// The reporter of a chain, batch or plan.
    #[inline]
    pub(crate) fn of_chain(
        name: Name<'r>,
        observe: Option<Observe<'r>>,
        stopwatch: &'r mut Option<Box<Stopwatch>>,
    ) -> Self {
        Self {
            observe,
            stopwatch: Some(stopwatch),
            ..Self::new(ReportedName::Known(name), None)
        }
    }

    #[inline]
    const fn new(name: ReportedName<'r>, policy: Option<&'r Policy>) -> Self {
        Self {
            name,
            policy,
            observe: None,
            stopwatch: None,
        }
    }

    /// A reporter with the site's name. It reports the policy's `max`, unless a failure has provided another.
    #[inline]
    pub const fn at(site: &'r Site<'r>) -> Self {
        Self::new(ReportedName::Known(site.name), Some(site.policy))
    }

    /// A reporter with this name.
    #[inline]
    pub const fn named(name: &'r str) -> Self {
        Self::new(ReportedName::Known(Name::Text(name)), None)
    }

    /// A reporter with a name that a function computes.
    #[inline]
    pub const fn named_by(name: &'r dyn Fn() -> String) -> Self {
        Self::new(ReportedName::Computed(name), None)
    }

    /// Adds an observer.
    // The bound on `F` lets the compiler infer the type of a closure's argument.
    #[inline]
    pub fn observe<F: FnMut(&Event<'_>)>(self, observe: &'r mut F) -> Self {
        self.observed_by(Some(observe))
    }

    /// Adds an observer, if there is one.
    #[inline]
    pub fn observed_by(self, observe: Option<Observe<'r>>) -> Self {
        Self { observe, ..self }
    }

    #[inline]
    pub(crate) const fn is_observed(&self) -> bool {
        self.observe.is_some()
    }

    /// Returns true if the driver has to measure the times of events.
    pub(super) const fn needs_stopwatch(&self) -> bool {
        self.observe.is_some() && self.stopwatch.is_none()
    }

    pub(super) fn name(&self) -> Cow<'r, str> {
        match self.name {
            ReportedName::Known(name) => Cow::Borrowed(name.get()),
            ReportedName::Computed(name) => Cow::Owned(name()),
        }
    }

    /// Calls `with` with an observer that adds the times of the call to its events.
    pub(crate) fn timed<V>(
        &mut self,
        now: &dyn Fn() -> Moment,
        stopwatch: &mut Stopwatch,
        with: impl FnOnce(Option<Observe<'_>>) -> V,
    ) -> V {
        let Some(observe) = &mut self.observe else {
            return with(None);
        };
        let stopwatch = match &mut self.stopwatch {
            Some(shared) => shared.get_or_insert_default(),
            None => stopwatch,
        };
        with(Some(&mut |event| stopwatch.forward(event, now, observe)))
    }
}
