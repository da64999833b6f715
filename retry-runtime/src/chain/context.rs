use alloc::boxed::Box;
use core::borrow::Borrow;

use crate::call::reporter::Reporter;
use crate::call::site::{Name, Site};
use crate::chain::keys::Settings;
use crate::observe::{Event, Observe, Stopwatch};
use crate::policy::Policy;

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
    pub(crate) fn policy_in_force(&self) -> Policy {
        Site::new(self.policy(), self.name()).policy_in_force()
    }

    /// The site, and the reporter under its name.
    pub(crate) fn parts(&mut self) -> (Site<'_>, Reporter<'_>) {
        let Self {
            names,
            observer,
            stopwatch,
            ..
        } = self;
        let reporter = reporter(*names, observer, stopwatch);
        (Site::new(self.policy.borrow(), named(*names)), reporter)
    }

    /// The reporter under the call's name.
    #[inline]
    pub(crate) fn reporter(&mut self) -> Reporter<'_> {
        reporter(self.names, &mut self.observer, &mut self.stopwatch)
    }

    /// The site of another name with the same policy, and the reporter under that name.
    pub(crate) fn parts_of<'s>(
        &'s mut self,
        name: &'s str,
        stopwatch: &'s mut Option<Box<Stopwatch>>,
    ) -> (Site<'s>, Reporter<'s>) {
        let reporter = reporter((Some(name), || ""), &mut self.observer, stopwatch);
        (Site::new(self.policy.borrow(), name), reporter)
    }
}

#[inline]
fn reporter<'r>(
    (name, default): Names<'r>,
    observer: &'r mut impl Observes,
    stopwatch: &'r mut Option<Box<Stopwatch>>,
) -> Reporter<'r> {
    let name = name.map_or(Name::By(default), Name::Text);
    Reporter::of_chain(name, observer.observer(), stopwatch)
}
