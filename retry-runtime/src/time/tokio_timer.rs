use core::future::Future;
use core::time::Duration;
use std::panic;

use crate::time::clock;
use crate::time::skip;
use crate::time::{Clock, Timer};

/// tokio's timer, the default of async functions.
///
/// It must be polled inside a tokio runtime with its time driver enabled, as `#[tokio::main]` does. Elsewhere it
/// panics; in debug builds a call panics before its first attempt, not only when it first has to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    #[inline]
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> {
        tokio_sleep(skip::to_sleep(duration))
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now)
    }

    fn expect<'n>(&self, call: impl FnOnce() -> &'n str) {
        expect_tokio(call);
    }
}

/// tokio's own sleep. Its panic without a runtime mentions neither the key nor the user's code.
#[track_caller]
pub(crate) fn tokio_sleep(duration: Duration) -> tokio::time::Sleep {
    sleep_of(|| A_CALL, duration)
}

/// The name of a call in a panic whose location is the only clue.
pub(crate) const A_CALL: &str = "a retried call";

/// Panics in debug builds, with the call's name, if [`tokio_sleep`] would.
#[inline]
#[track_caller]
pub(crate) fn expect_tokio<'n>(call: impl FnOnce() -> &'n str) {
    if cfg!(debug_assertions) {
        drop(sleep_of(call, Duration::ZERO));
    }
}

/// Sleeps for the named call. tokio reports a missing runtime only by panicking, unless its feature `rt` is on, which
/// takes the compiler three times as long as `time`.
#[track_caller]
fn sleep_of<'n>(call: impl FnOnce() -> &'n str, duration: Duration) -> tokio::time::Sleep {
    let Ok(sleep) = panic::catch_unwind(|| tokio::time::sleep(duration)) else {
        panic!(
            "{} waits with tokio's timer, and there is no tokio runtime here with its time enabled: {WAY_OUT}, or name \
             another timer with the key `timer`, as in `timer = smol::Timer::after`",
            call()
        );
    };
    sleep
}

const WAY_OUT: &str = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    "enable the feature `browser` of `retry-runtime`, for the page's timer"
} else {
    "run it in one, as under `#[tokio::main]`"
};
