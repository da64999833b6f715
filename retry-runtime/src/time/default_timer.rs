use core::time::Duration;
use std::thread;

use crate::time::cancel::{Cancel, Uncancelled};
use crate::time::{BlockingTimer, Clock, clock, skip};

/// The timer of calls that name none. Async calls use the page's timer in a browser with the feature `browser`, or else
/// tokio's with the feature `tokio`. Blocking calls sleep on their thread. Without the feature `std`, it is not a
/// timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTimer;

#[diagnostic::do_not_recommend]
impl BlockingTimer for DefaultTimer {
    fn sleep(&self, duration: Duration) {
        Uncancelled.wait(self.to_sleep(duration));
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
