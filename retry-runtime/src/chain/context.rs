use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::reporter::{Reporter, Times};
use crate::call::site::Site;
use crate::chain::key::Key;
use crate::chain::keys::SharedKeys;
use crate::chain::observer::Observes;
use crate::chain::operation::Operated;
use crate::observe::report::Observe;
use crate::policy::Policy;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::time::moment::Moment;

/// The policy, the name and the observer of a chain's call, batch or plan. `D` is its name unless a key names it.
pub(crate) struct Context<K: SharedKeys, D> {
    policy: K::Policy,
    name: K::Name,
    default: D,
    observer: K::Observer,
    stopwatch: StopwatchOf<K>,
    pub(crate) idempotent: bool,
}

pub(crate) type StopwatchOf<K> = <<K as SharedKeys>::Observer as Observes>::Stopwatch;

/// The name of a call after its operation.
pub(super) struct NameOf<O>(pub(super) PhantomData<fn() -> O>);

impl<O: Operated> AsRef<str> for NameOf<O> {
    #[inline]
    fn as_ref(&self) -> &str {
        O::default_name()
    }
}

impl<K: SharedKeys, D: AsRef<str>> Context<K, D> {
    /// With what cancels the work, and its timer.
    #[inline]
    pub(crate) fn new(keys: K, default: D) -> (Self, K::Cancel, K::Timer) {
        let keys = keys.into_keys();
        let context = Self {
            policy: keys.policy,
            name: keys.name,
            default,
            observer: keys.observer,
            stopwatch: Default::default(),
            idempotent: keys.idempotent,
        };
        (context, keys.cancel, keys.timer)
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.policy.borrow()
    }

    pub(crate) fn name(&self) -> &str {
        let name = self.name.get().map(AsRef::as_ref);
        name.unwrap_or_else(|| self.default.as_ref())
    }

    /// The policy with what is installed over it.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn policy_in_force(&self) -> Policy {
        Site::new(self.policy(), self.name()).policy_in_force()
    }

    /// Its site, and what reports under its name.
    #[inline]
    pub(crate) fn parts(&mut self) -> (Site<'_>, ObservedBy<'_, K>) {
        let name = self.name.get().map(AsRef::as_ref);
        let name = name.unwrap_or_else(|| self.default.as_ref());
        let site = Site::new(self.policy.borrow(), name);
        let reporter = ObservedBy {
            name,
            observer: &mut self.observer,
            stopwatch: &mut self.stopwatch,
        };
        (site, reporter)
    }

    /// Reports something.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn report_once<V>(
        &mut self,
        now: &dyn Fn() -> Moment,
        report: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> V,
    ) -> V {
        let (site, mut reporter) = self.parts();
        let (mut report, mut reported) = (Some(report), None);
        reporter.report(&mut Times::new(now, &mut None), &mut |_, observe| {
            reported = report.take().map(|report| report(&site, observe));
        });
        reported.expect("reported once")
    }
}

impl<K: SharedKeys, D: AsRef<str>> Reporter for &mut Context<K, D> {
    #[inline]
    fn is_observed(&self) -> bool {
        K::Observer::IS_NAMED
    }

    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        self.parts().1.observe(times, with);
    }

    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        self.parts().1.report(times, with);
    }
}

/// A name, with the observer of a chain that has these keys.
pub(crate) struct ObservedBy<'a, K: SharedKeys> {
    pub(crate) name: &'a str,
    pub(crate) observer: &'a mut K::Observer,
    pub(crate) stopwatch: &'a mut StopwatchOf<K>,
}

impl<K: SharedKeys> Reporter for ObservedBy<'_, K> {
    #[inline]
    fn is_observed(&self) -> bool {
        K::Observer::IS_NAMED
    }

    fn observe(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(Option<Observe<'_>>)) {
        // A batch has one stopwatch for the drivers of all its items.
        self.observer.timed(self.stopwatch, times.now(), with);
    }

    fn report(&mut self, times: &mut Times<'_>, with: &mut dyn FnMut(&str, Option<Observe<'_>>)) {
        let name = self.name;
        self.observe(times, &mut |observe| with(name, observe));
    }
}
