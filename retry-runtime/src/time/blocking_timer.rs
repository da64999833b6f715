use alloc::sync::Arc;
use core::time::Duration;

use crate::forward::forward;
use crate::time::{Cancel, Clock, Moment, TICK};
#[cfg(feature = "std")]
use crate::time::{TimerFn, clock};

/// The timer with which a blocking function sleeps between attempts: the key `timer`.
///
/// Without the key, the thread sleeps. Implement your own timer if the thread can do something else in the meantime, or
/// if time is simulated. The key also accepts a function of a `Duration`:
///
/// ```
/// use std::cell::Cell;
/// use std::time::Duration;
/// use retry_runtime::seam::{BlockingTimer, Moment};
/// use retry_runtime::retry;
///
/// /// Time that passes only during sleeps.
/// #[derive(Default)]
/// struct Simulated(Cell<Duration>);
///
/// impl BlockingTimer for Simulated {
///     fn sleep(&self, duration: Duration) {
///         self.0.set(self.0.get() + duration);
///     }
///
///     fn now(&self) -> Moment {
///         Moment::from_origin(self.0.get())
///     }
/// }
///
/// #[retry(max = 3, jitter = "none", deadline = "5s", timer = time, on = |_| true)]
/// fn read(time: &Simulated) -> Result<u32, String> {
///     Err(String::from("busy"))
/// }
///
/// let time = Simulated::default();
/// assert!(read(&time).is_err());
/// // Another 4 s would be too long.
/// assert_eq!(time.0.get(), Duration::from_secs(1 + 2));
///
/// #[retry(timer = std::thread::sleep, on = |_| true)]
/// fn read_by_function() -> Result<u32, String> {
///     Ok(42)
/// }
/// assert_eq!(read_by_function(), Ok(42));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer by blocking code",
    label = "not a `BlockingTimer`",
    note = "pass a type that implements `retry_runtime::seam::BlockingTimer`, or a function of a `Duration` in `TimerFn::new`",
    note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
)]
pub trait BlockingTimer {
    /// Returns after `duration`.
    fn sleep(&self, duration: Duration);

    /// Returns the time on the clock that [`sleep`](Self::sleep) uses. This clock measures deadlines and elapsed times,
    /// so it must never go back. The default is the system's clock; without the feature `std` there is no default.
    #[cfg(feature = "std")]
    fn now(&self) -> Moment {
        clock::now_blocking()
    }

    /// Returns the time on the clock that [`sleep`](Self::sleep) uses.
    #[cfg(not(feature = "std"))]
    fn now(&self) -> Moment;

    /// Sleeps for `duration`, or until `cancel` cancels the call. Returns true if the call is cancelled. For calls with
    /// the key `cancel`.
    ///
    /// The default sleeps for 10 ms at a time. In between, it checks [`Cancel::is_cancelled`] and reads
    /// [`now`](Self::now), because a sleep may take longer.
    fn sleep_or_cancelled(&self, duration: Duration, cancel: &dyn Cancel) -> bool {
        if cancel.is_never() {
            self.sleep(duration);
            return false;
        }
        let (mut left, began) = (self.to_sleep(duration), self.now());
        loop {
            if cancel.is_cancelled() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            let step = left.min(TICK);
            self.sleep(step);
            // A coarse timer is late at every step, so read its clock. If the clock does not advance, count the step in
            // full.
            let unslept = duration.saturating_sub(self.now().since(began));
            left = left.saturating_sub(step).min(unslept);
        }
    }

    /// Sleeps until the thread is unparked, but at most for this time. May return earlier.
    #[doc(hidden)]
    fn park(&self, at_most: Option<Duration>) {
        self.sleep(at_most.map_or(TICK, |most| most.min(TICK)));
    }

    /// The time to actually sleep: zero in a test that skips pauses.
    #[doc(hidden)]
    fn to_sleep(&self, duration: Duration) -> Duration {
        duration
    }

    /// The clock that an attempt reads.
    #[doc(hidden)]
    fn clock(&self) -> Clock {
        Clock::Read(self.now())
    }
}

forward! {
    BlockingTimer {
        #![diagnostic::do_not_recommend]
        fn sleep(&self, duration: Duration);
        fn now(&self) -> Moment;
        fn sleep_or_cancelled(&self, duration: Duration, cancel: &dyn Cancel) -> bool;
        fn park(&self, at_most: Option<Duration>);
        fn to_sleep(&self, duration: Duration) -> Duration;
        fn clock(&self) -> Clock;
    }
    for &T, Arc<T>
}

#[cfg(feature = "std")]
impl<F: Fn(Duration)> BlockingTimer for TimerFn<F> {
    fn sleep(&self, duration: Duration) {
        (self.0)(duration);
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now_blocking)
    }
}
