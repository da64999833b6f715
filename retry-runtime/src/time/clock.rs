//! The clock for deadlines and elapsed times.

use core::cell::Cell;
use core::iter;
use core::time::Duration;
use std::sync::OnceLock;
#[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;

#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
pub(crate) use web_time::Instant;

use crate::time::{Moment, skip};

/// The time for async code without a timer, and for timers without their own clock. It is tokio's clock with the
/// feature `tokio`, so that a paused clock also controls deadlines; in a browser, the page's clock; otherwise the
/// system's.
pub fn now() -> Moment {
    expect_clock();
    #[cfg(feature = "tokio")]
    #[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
    let now = tokio::time::Instant::now().into_std();
    #[cfg(any(
        not(feature = "tokio"),
        all(feature = "browser", target_family = "wasm", target_os = "unknown")
    ))]
    let now = Instant::now();
    moment(now, MISSED.get())
}

thread_local! {
    /// The time that passed on other clocks while this thread waited, but not on [`now`]'s.
    static MISSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Adds missed time to [`now`], on this thread.
pub(crate) fn add_missed(time: Duration) {
    MISSED.set(MISSED.get().saturating_add(time));
}

/// The time for blocking code, which sleeps by the system's clock, even if a surrounding runtime has paused its own.
pub fn now_blocking() -> Moment {
    expect_clock();
    moment(Instant::now(), Duration::ZERO)
}

/// Panics with advice if there is no clock. The standard library's clock would panic without advice.
#[inline]
fn expect_clock() {
    #[cfg(all(
        not(feature = "browser"),
        target_family = "wasm",
        target_os = "unknown"
    ))]
    panic!(
        "a retried call needs the time, but there is no clock here: enable the feature `browser` of \
         `retry-runtime` for the page's clock or, if the call has no breaker, budget or limiter, set a timer with \
         its own clock with the key `timer`"
    );
}

/// The moment `now`, plus the time that was missed and the pauses that a test skipped.
#[inline]
fn moment(now: Instant, missed: Duration) -> Moment {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let origin = *ORIGIN.get_or_init(|| {
        let now = Instant::now();
        origin(|room| now.checked_sub(room)).unwrap_or(now)
    });
    let since = now.saturating_duration_since(origin);
    let added = missed.saturating_add(skip::skipped());
    // A fast path: every call reads the clock, and there is usually nothing to add.
    if added.is_zero() {
        return Moment::from_origin(since);
    }
    Moment::from_origin(since.saturating_add(added))
}

/// A time up to 100 years before now, because a runtime with a paused clock may still be at the time of its creation,
/// long before the first call. If the system's clock starts at boot, the time is closer to now.
fn origin<T>(before_now: impl Fn(Duration) -> Option<T>) -> Option<T> {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    let rooms = iter::successors(Some(CENTURY), |room| Some(*room / 2));
    rooms
        .take_while(|room| !room.is_zero())
        .find_map(before_now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_started_recently_have_an_origin() {
        let started = |ago| move |room| Duration::checked_sub(ago, room);
        let room = |ago| origin(started(ago)).map(|origin| ago.saturating_sub(origin));

        let century = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        assert_eq!(room(century * 2), Some(century));
        for ago in [
            Duration::from_secs(1),
            Duration::from_millis(1500),
            Duration::from_secs(3600),
        ] {
            let room = room(ago).unwrap();
            assert!(room <= ago && room > ago / 2, "{room:?} of {ago:?}");
        }
        assert_eq!(room(Duration::ZERO), None);
    }
}
