use alloc::boxed::Box;
use core::any::type_name;
use core::borrow::Borrow;

use crate::call::reporter::Reporter;
use crate::chain::keys::{Observes, Settings};
use crate::name::function_in;
use crate::observe::Stopwatch;
use crate::policy::Policy;
use crate::site::{Name, Site};

/// The policy, the settings and the observer of a chain's call, batch or plan.
pub struct Context<'a, O, Q = Policy> {
    policy: Q,
    pub(crate) settings: Settings,
    pub(crate) name: Name<'a>,
    observer: O,
    stopwatch: Option<Box<Stopwatch>>,
}

impl<'a, O: Observes, Q: Borrow<Policy>> Context<'a, O, Q> {
    #[inline]
    pub(crate) fn new(policy: Q, settings: Settings, name: Name<'a>, observer: O) -> Self {
        Self {
            policy,
            settings,
            name,
            observer,
            stopwatch: None,
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        self.policy.borrow()
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        self.name.get()
    }

    /// The policy, with the installed overrides.
    pub fn policy_in_force(&self) -> Policy {
        let (policy, name) = (self.policy.borrow(), self.name);
        Site { policy, name }.policy_in_force()
    }

    /// True if the call and its attempts have spans.
    pub fn is_spanned(&self) -> bool {
        self.settings.is_spanned
    }

    /// True if there is an observer.
    #[inline]
    pub fn is_observed(&mut self) -> bool {
        self.observer.observer().is_some()
    }

    /// The name of the call's span, if it has one.
    pub(crate) fn span_name(&self) -> Option<Box<str>> {
        self.settings.is_spanned.then(|| self.name().into())
    }

    /// The site, and a reporter with its name.
    #[inline]
    pub fn parts(&mut self) -> (Site<'_>, Reporter<'_>) {
        let (policy, name) = (self.policy.borrow(), self.name);
        let reporter = Reporter::of_chain(name, self.observer.observer(), &mut self.stopwatch);
        (Site { policy, name }, reporter)
    }

    /// A reporter with the call's name.
    #[inline]
    pub fn reporter(&mut self) -> Reporter<'_> {
        self.parts().1
    }

    /// A site with the same policy and another name, and a reporter with that name.
    pub(super) fn parts_of<'s>(
        &'s mut self,
        name: &'s str,
        stopwatch: &'s mut Option<Box<Stopwatch>>,
    ) -> (Site<'s>, Reporter<'s>) {
        let site = Site::new(self.policy.borrow(), name);
        let reporter = Reporter::of_chain(site.name, self.observer.observer(), stopwatch);
        (site, reporter)
    }
}

/// The path of the function that contains this closure.
pub fn path_of<F>() -> &'static str {
    function_in(type_name::<F>())
}
