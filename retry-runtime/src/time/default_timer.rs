use core::time::Duration;
use std::thread;

use crate::call::attempt::Clock;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;
#[cfg(feature = "tokio")]
use crate::time::timer::{Timer, TokioTimer};
use crate::time::{clock, skip};

/// How a call sleeps that names no timer: an async one with tokio's, if the feature `tokio` is on; a blocking one on
/// its thread. It is no timer without the feature `std`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTimer;

#[cfg(feature = "tokio")]
#[diagnostic::do_not_recommend]
impl Timer for DefaultTimer {
    #[inline]
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> {
        TokioTimer.sleep(duration)
    }

    fn clock(&self) -> Clock {
        Timer::clock(&TokioTimer)
    }

    fn expect<'n>(&self, call: impl FnOnce() -> &'n str) {
        TokioTimer.expect(call);
    }
}

#[diagnostic::do_not_recommend]
impl BlockingTimer for DefaultTimer {
    fn sleep(&self, duration: Duration) {
        thread::sleep(self.to_sleep(duration));
    }

    fn sleep_or_cancelled(&self, duration: Duration, cancel: &dyn Cancel) -> bool {
        cancel.wait(self.to_sleep(duration))
    }

    fn park(&self, at_most: Option<Duration>) {
        match at_most {
            Some(most) => thread::park_timeout(most),
            None => thread::park(),
        }
    }

    fn to_sleep(&self, duration: Duration) -> Duration {
        skip::to_sleep(duration)
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now_blocking)
    }
}
