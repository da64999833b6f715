//! A page's timer and clock.

use core::future::Future;
use core::time::Duration;

use gloo_timers::future::TimeoutFuture;
pub(crate) use web_time::Instant;

/// What `setTimeout` can count: beyond it, it fires at once.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

/// Sleeps by `setTimeout`, at least once, so that a pause of no length lets the page draw, too.
pub(crate) fn sleep(duration: Duration) -> impl Future<Output = ()> {
    let started = Instant::now();
    async move {
        loop {
            let left = duration.saturating_sub(started.elapsed());
            // Upwards, for it takes whole milliseconds. By the clock, it may fire a little early all the same.
            let millis = left.min(LONGEST).as_nanos().div_ceil(1_000_000);
            TimeoutFuture::new(u32::try_from(millis).unwrap_or(u32::MAX)).await;
            if started.elapsed() >= duration {
                break;
            }
        }
    }
}
