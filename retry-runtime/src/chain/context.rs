use alloc::boxed::Box;
use core::borrow::Borrow;

use crate::call::reporter::{Reporter, Times};
use crate::call::site::Site;
use crate::chain::keys::Settings;
use crate::observe::{Event, Observe, Stopwatch};
use crate::policy::Policy;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::time::Moment;

/// The function that a chain's `observe` takes. It is not an [`Observer`](crate::Observer), because the compiler infers
/// the type of a closure's argument only if a function is required.
#[diagnostic::on_unimplemented(
    message = "a chain's `observe` takes a closure, not `{Self}`",
    label = "not `FnMut(&Event<'_>)`",
    note = "to use an `Observer`, write `.observe(|event| observer.observe(event))`"
)]
pub trait ObserveFn: FnMut(&Event<'_>) {}

#[diagnostic::do_not_recommend]
impl<F: FnMut(&Event<'_>)> ObserveFn for F {}

/// The observer of a chain: a function, or `()` if there is none.
pub trait Observes {
    /// True if there is one.
    const OBSERVES: bool;

    /// The observer.
    fn observer(&mut self) -> Option<Observe<'_>>;
}

impl Observes for () {
    const OBSERVES: bool = false;

    #[inline]
    fn observer(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> Observes for F {
    const OBSERVES: bool = true;

    fn observer(&mut self) -> Option<Observe<'_>> {
        Some(self)
    }
}

/// The name that was set, and a function that returns the default.
pub(crate) type Names<'a> = (Option<&'a str>, fn() -> &'static str);

/// The name to use.
pub(crate) fn named((name, default): Names<'_>) -> &str {
    name.unwrap_or_else(default)
}

/// The policy, the settings and the observer of a chain's call, batch or plan.
pub(crate) struct Context<'a, O, Q = Policy> {
    policy: Q,
    pub(crate) settings: Settings,
    names: Names<'a>,
    observer: O,
    stopwatch: Option<Box<Stopwatch>>,
}

impl<'a, O: Observes, Q: Borrow<Policy>> Context<'a, O, Q> {
    #[inline]
    pub(crate) fn new(policy: Q, settings: Settings, names: Names<'a>, observer: O) -> Self {
        Self {
            policy,
            settings,
            names,
            observer,
            stopwatch: None,
        }
    }

    /// For a batch or a plan.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn named(policy: Q, settings: Settings, name: &'a str, observer: O) -> Self {
        Self::new(policy, settings, (Some(name), || ""), observer)
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.policy.borrow()
    }

    pub(crate) fn name(&self) -> &'a str {
        named(self.names)
    }

    /// The name of the call's span, if it has one.
    pub(crate) fn span_name(&self) -> Option<Box<str>> {
        self.settings.is_spanned.then(|| self.name().into())
    }

    /// The policy, with the installed overrides.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn policy_in_force(&self) -> Policy {
        Site::new(self.policy(), self.name()).policy_in_force()
    }

    /// The site, and the reporter under its name.
    pub(crate) fn parts(&mut self) -> (Site<'_>, ObservedBy<'_, O>) {
        let reporter = ObservedBy {
            names: self.names,
            observer: &mut self.observer,
            stopwatch: &mut self.stopwatch,
        };
        (Site::new(self.policy.borrow(), named(self.names)), reporter)
    }

    /// The reporter under the call's name.
    #[inline]
    pub(crate) fn reporter(&mut self) -> ObservedBy<'_, O> {
        ObservedBy {
            names: self.names,
            observer: &mut self.observer,
            stopwatch: &mut self.stopwatch,
        }
    }

    /// The site of another name with the same policy, and the reporter under that name.
    #[cfg(feature = "plan")]
    pub(crate) fn parts_of<'s>(
        &'s mut self,
        name: &'s str,
        stopwatch: &'s mut Option<Box<Stopwatch>>,
    ) -> (Site<'s>, ObservedBy<'s, O>) {
        let reporter = ObservedBy {
            names: (Some(name), || ""),
            observer: &mut self.observer,
            stopwatch,
        };
        (Site::new(self.policy.borrow(), name), reporter)
    }
}

/// A name, with the observer of a chain.
pub(crate) struct ObservedBy<'a, O> {
    pub(crate) names: Names<'a>,
    pub(crate) observer: &'a mut O,
    pub(crate) stopwatch: &'a mut Option<Box<Stopwatch>>,
}

impl<O: Observes> ObservedBy<'_, O> {
    /// Reports one event.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn once<V>(
        self,
        now: &dyn Fn() -> Moment,
        report: impl FnOnce(Option<Observe<'_>>) -> V,
    ) -> V {
        let Some(observer) = self.observer.observer() else {
            return report(None);
        };
        let stopwatch = self.stopwatch.get_or_insert_default();
        report(Some(&mut |event| stopwatch.tell(event, now, observer)))
    }
}

impl<O: Observes> Reporter for ObservedBy<'_, O> {
    #[inline]
    fn is_observed(&self) -> bool {
        O::OBSERVES
    }

    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        match self.observer.observer() {
            // A batch has one stopwatch for the drivers of all its items.
            Some(observer) => Times::new(times.now(), self.stopwatch)
                .add_to(observer, |observe| with(Some(observe))),
            None => with(None),
        }
    }

    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        let name = named(self.names);
        self.observe(times, &mut |observe| with(name, observe));
    }
}
