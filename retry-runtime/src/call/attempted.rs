//! How loops make an attempt: with the feature `nested`, calls within it know of the call around them.

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
