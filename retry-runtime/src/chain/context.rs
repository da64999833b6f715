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

/// What the attempts of a chain's call go by. The call is named by the type `D` unless a key names it.
pub(super) struct Context<P, K: SharedKeys, D> {
    pub(super) policy: P,
    pub(super) keys: KeysOf<K>,
    pub(super) stopwatch: StopwatchOf<K>,
    pub(super) default: PhantomData<fn() -> D>,
}

impl<P: Borrow<Policy>, K: SharedKeys, D: Operated> Context<P, K, D> {
    pub(super) fn name(&self) -> &str {
        name(&self.keys.name, D::default_name)
    }
}

impl<P: Borrow<Policy>, K: SharedKeys, D: Operated> Shared for Context<P, K, D> {
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
        let name = name(&self.keys.name, D::default_name);
        let site = Site::new(self.policy.borrow(), name);
        let observer = &mut self.keys.observer;
        observer.timed(&mut self.stopwatch, |observe| tell(&site, observe))
    }
}
