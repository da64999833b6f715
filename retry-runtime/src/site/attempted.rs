//! Marks attempts for the feature `nested`, so that calls made within them are reported as nested.

use alloc::sync::Arc;
use core::pin::Pin;

use crate::policy::Policy;

#[cfg(feature = "nested")]
use crate::site::nested::{Outer, enter, within};

/// Wraps an attempt of a call with this policy and this name.
pub fn attempt_within<F: Future>(
    attempt: Pin<&mut F>,
    policy: &Policy,
    name: impl FnOnce() -> Arc<str>,
) -> impl Future<Output = F::Output> {
    #[cfg(feature = "nested")]
    return within(attempt, Outer::with_name(policy, name()));
    #[cfg(not(feature = "nested"))]
    {
        let _ = (policy, name);
        attempt
    }
}

/// Like `attempt_within`, for a blocking attempt.
#[inline]
pub fn run_within<V>(
    policy: &Policy,
    name: impl FnOnce() -> Arc<str>,
    attempt: impl FnOnce() -> V,
) -> V {
    #[cfg(feature = "nested")]
    let _entered = enter(Outer::with_name(policy, name()));
    #[cfg(not(feature = "nested"))]
    let _ = (policy, name);
    attempt()
}
