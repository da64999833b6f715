//! What a chain is called: as its key `name` says, or else by default.

#[cfg(feature = "nested")]
use alloc::sync::Arc;
use core::any::type_name;

#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::key::Key;
#[cfg(feature = "nested")]
use crate::policy::Policy;
#[cfg(feature = "nested")]
use crate::policy::values::Values;

/// The name.
pub(crate) fn name<'a>(
    key: &'a impl Key<Value: AsRef<str>>,
    default: impl FnOnce() -> &'a str,
) -> &'a str {
    key.get().map_or_else(default, AsRef::as_ref)
}

/// The call under that policy, to those within its attempts.
#[cfg(feature = "nested")]
pub(crate) fn outer<N: Key<Value: AsRef<str>>>(
    key: &N,
    policy: &Policy,
    default: impl FnOnce() -> &'static str,
) -> Outer {
    match key.get() {
        Some(name) => Outer::shared(policy, Arc::from(name.as_ref())),
        None => Outer::with_policy(policy, default(), Values::Taken),
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

/// The function that this closure is written in.
#[cfg(feature = "batch")]
pub(crate) fn name_of<F>(_: &F) -> &'static str {
    place_of::<F>()
}
