use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::attempts::Shared;
use crate::call::site::Site;
use crate::chain::keys::{KeysOf, SharedKeys};
use crate::chain::name::name;
use crate::chain::observer::{ObserverKey, StopwatchOf};
use crate::chain::operation::Operated;
use crate::key::Key;
use crate::observe::report::Observe;
use crate::policy::Policy;
use crate::time::attempt_clock::Clock;

/// What the attempts of a chain's call, batch or plan go by. `N` is its name unless a key names it.
pub(crate) struct Context<P, K: SharedKeys, N> {
    pub(crate) policy: P,
    pub(crate) keys: KeysOf<K>,
    stopwatch: StopwatchOf<K>,
    default: N,
}

/// The name of a call after its operation.
pub(super) struct NameOf<O>(pub(super) PhantomData<fn() -> O>);

impl<O: Operated> AsRef<str> for NameOf<O> {
    #[inline]
    fn as_ref(&self) -> &str {
        O::default_name()
    }
}

impl<P: Borrow<Policy>, K: SharedKeys, N: AsRef<str>> Context<P, K, N> {
    #[inline]
    pub(crate) fn new(policy: P, keys: K, default: N) -> Self {
        Self {
            policy,
            keys: keys.into_keys(),
            stopwatch: Default::default(),
            default,
        }
    }

    /// Begins to measure times for the observer, if there is one.
    #[inline]
    pub(crate) fn starts(&mut self, clock: impl FnOnce() -> Clock) {
        self.stopwatch = K::Observer::stopwatch(clock);
    }

    pub(crate) fn name(&self) -> &str {
        name(&self.keys.name, || self.default.as_ref())
    }

    /// The policy with what is installed over it.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn policy_in_force(&self) -> Policy {
        Site::new(self.policy.borrow(), self.name()).policy_in_force()
    }
}

impl<P: Borrow<Policy>, K: SharedKeys, N: AsRef<str>> Shared for Context<P, K, N> {
    type Guards = K::Guards;

    #[inline]
    fn policy(&self) -> &Policy {
        self.policy.borrow()
    }

    #[inline]
    fn guards(&self) -> &K::Guards {
        &self.keys.protections
    }

    #[inline]
    fn is_observed(&self) -> bool {
        K::Observer::IS_NAMED
    }

    #[inline]
    fn tell<T>(&mut self, tell: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> T) -> T {
        let name = name(&self.keys.name, || self.default.as_ref());
        let site = Site::new(self.policy.borrow(), name);
        let observer = &mut self.keys.observer;
        observer.timed(&mut self.stopwatch, |observe| tell(&site, observe))
    }
}
