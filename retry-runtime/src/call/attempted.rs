//! How loops make an attempt: with the feature `nested`, calls within it know of the call around them.

use alloc::sync::Arc;
use core::future::Future;
use core::pin::Pin;

#[cfg(feature = "nested")]
use crate::call::nested::{Outer, within};
use crate::policy::Policy;

/// Awaits the attempt's future. The outer call is an `Outer`.
#[cfg(feature = "nested")]
macro_rules! awaited {
    ($future:expr, $outer:expr) => {{
        let outer = $outer;
        let future = ::core::pin::pin!($future);
        $crate::call::nested::within(future, outer).await
    }};
}

/// Runs the attempt.
#[cfg(feature = "nested")]
macro_rules! run {
    ($attempt:expr, $outer:expr) => {{
        let _entered = $crate::call::nested::enter($outer);
        $attempt
    }};
}

#[cfg(not(feature = "nested"))]
macro_rules! awaited {
    ($future:expr, $outer:expr) => {
        $future.await
    };
}

#[cfg(not(feature = "nested"))]
macro_rules! run {
    ($attempt:expr, $outer:expr) => {
        $attempt
    };
}

pub(crate) use {awaited, run};

/// The attempt of a loop in another crate, whose call has that policy and that name.
pub fn attempt_within<F: Future>(
    attempt: Pin<&mut F>,
    policy: &Policy,
    name: impl FnOnce() -> Arc<str>,
) -> impl Future<Output = F::Output> {
    #[cfg(feature = "nested")]
    return within(attempt, Outer::shared(policy, name()));
    #[cfg(not(feature = "nested"))]
    {
        let _ = (policy, name);
        attempt
    }
}
