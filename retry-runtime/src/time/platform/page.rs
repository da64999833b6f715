//! A page's timer.

use core::time::Duration;

use gloo_timers::future::TimeoutFuture;
use web_time::Instant;

use super::{DefaultTimer, Features, HasTimer};
use crate::time::{Clock, Timer, clock, skip};

/// Yields by waiting for the page's timer. A task that keeps waking itself would freeze the page, because woken tasks
/// run before timers and responses.
pub async fn yield_now() {
    TimeoutFuture::new(0).await;
}

/// The longest `setTimeout`: a longer one fires at once.
const MAX_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// Sleeps with `setTimeout`, at least once, so that a zero pause also lets the page draw.
fn set_timeout(duration: Duration) -> impl Future<Output = ()> {
    let started = Instant::now();
    async move {
        loop {
            let left = duration.saturating_sub(started.elapsed());
            // Rounded up, because `setTimeout` takes whole milliseconds. It may still fire a little early by the clock.
            let millis = left.min(MAX_TIMEOUT).as_nanos().div_ceil(1_000_000);
            TimeoutFuture::new(u32::try_from(millis).unwrap_or(u32::MAX)).await;
            if started.elapsed() >= duration {
                break;
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl Timer for DefaultTimer {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> {
        set_timeout(skip::to_sleep(duration))
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now)
    }
}

impl HasTimer for Features {
    type Timer = DefaultTimer;
}
