use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::attempts::Shared;
use crate::call::site::Site;
use crate::chain::keys::{KeysOf, SharedKeys};
use crate::chain::observer::ObserverKey;
use crate::chain::operation::Operated;
use crate::key::Key;
use crate::observe::report::Observe;
use crate::policy::Policy;

/// What the attempts of a chain's call, batch or plan go by. `N` names it unless a key does.
pub(crate) struct Context<P, K: SharedKeys, N> {
    pub(crate) policy: P,
    pub(crate) keys: KeysOf<K>,
    default: N,
}

/// The name of a call after its operation.
pub(super) struct NameOf<O>(PhantomData<fn() -> O>);

impl<O> NameOf<O> {
    #[inline]
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

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
            default,
        }
    }

    pub(crate) fn name(&self) -> &str {
        name(&self.keys.name, &self.default)
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
        let name = name(&self.keys.name, &self.default);
        let site = Site::new(self.policy.borrow(), name);
        tell(&site, self.keys.observer.observe())
    }
}

fn name<'a>(key: &'a impl Key<Value: AsRef<str>>, default: &'a impl AsRef<str>) -> &'a str {
    key.get().map_or_else(|| default.as_ref(), AsRef::as_ref)
}
