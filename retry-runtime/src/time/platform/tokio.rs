//! tokio's timer.

use core::time::Duration;
use std::panic;

use super::{DefaultTimer, Features, HasTimer};
use crate::time::{Clock, Timer, clock, skip};

#[diagnostic::do_not_recommend]
impl Timer for DefaultTimer {
    #[inline]
    #[track_caller]
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> {
        tokio_sleep(duration)
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now)
    }

    #[inline]
    #[track_caller]
    fn expect<'n>(&self, call: impl FnOnce() -> &'n str) {
        if cfg!(debug_assertions) {
            drop(sleep_of(call, Duration::ZERO));
        }
    }
}

impl HasTimer for Features {
    type Timer = DefaultTimer;
}

/// Panics in debug builds, before the first failure, if there is no tokio runtime.
#[inline]
#[track_caller]
pub fn expect_timer() {
    Timer::expect(&DefaultTimer, || UNNAMED_CALL);
}

/// The text in a panic for a call whose name is unknown. The panic's location identifies the call.
const UNNAMED_CALL: &str = "a retried call";

/// Not generic, so that it is compiled once, and not for each retried function.
#[track_caller]
fn tokio_sleep(duration: Duration) -> tokio::time::Sleep {
    sleep_of(|| UNNAMED_CALL, skip::to_sleep(duration))
}

/// Sleeps for the named call. tokio reports a missing runtime only by panicking, unless its feature `rt` is enabled,
/// which takes three times as long to compile as `time`.
#[track_caller]
fn sleep_of<'n>(call: impl FnOnce() -> &'n str, duration: Duration) -> tokio::time::Sleep {
    let Ok(sleep) = panic::catch_unwind(|| tokio::time::sleep(duration)) else {
        panic!(
            "{} waits with tokio's timer, and there is no tokio runtime here with its time enabled: {ADVICE}, or name \
             another timer with the key `timer`, as in `timer = smol::Timer::after`",
            call()
        );
    };
    sleep
}

const ADVICE: &str = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    "enable the feature `browser` of `retry-runtime`, for the page's timer"
} else {
    "run it in one, as under `#[tokio::main]`"
};
