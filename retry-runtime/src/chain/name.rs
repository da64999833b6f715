#[cfg(feature = "nested")]
use alloc::sync::Arc;
use core::any::type_name;

#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::chain::key::{Named, Unnamed};
#[cfg(feature = "nested")]
use crate::policy::Policy;
#[cfg(feature = "nested")]
use crate::policy::values::Values;

/// What a chain is called: as its key `name` says, or else by default.
pub trait MayName {
    /// What the key says.
    fn named(&self) -> Option<&str>;

    fn name(&self, default: impl FnOnce() -> &'static str) -> &str {
        match self.named() {
            Some(name) => name,
            None => default(),
        }
    }

    /// The call under that policy, to those within its attempts.
    #[cfg(feature = "nested")]
    fn outer(&self, policy: &Policy, default: impl FnOnce() -> &'static str) -> Outer;
}

impl MayName for Unnamed {
    fn named(&self) -> Option<&str> {
        None
    }

    #[cfg(feature = "nested")]
    fn outer(&self, policy: &Policy, default: impl FnOnce() -> &'static str) -> Outer {
        Outer::under(policy, default(), Values::Taken)
    }
}

impl<S: AsRef<str>> MayName for Named<S> {
    fn named(&self) -> Option<&str> {
        Some(self.0.as_ref())
    }

    #[cfg(feature = "nested")]
    fn outer(&self, policy: &Policy, _: impl FnOnce() -> &'static str) -> Outer {
        Outer::shared(policy, Arc::from(self.0.as_ref()))
    }
}

/// The function that a closure of this type is written in.
pub(crate) fn place_of<F>() -> &'static str {
    without_closures(type_name::<F>())
}

/// The function that something of that name is in, also where it is in closures.
pub(crate) fn without_closures(mut name: &str) -> &str {
    // The searcher of `trim_end_matches` would take fifteen hundred instructions.
    while let Some(around) = name.strip_suffix("::{{closure}}") {
        name = around;
    }
    name
}

/// The same of a closure.
#[cfg(feature = "batch")]
pub(crate) fn name_of<F>(_: &F) -> &'static str {
    place_of::<F>()
}
