use alloc::sync::Arc;
use core::time::Duration;
#[cfg(feature = "std")]
use std::thread;

use crate::forward::forward;
use crate::time::cancel::{Cancel, STEP};
use crate::time::moment::{Clock, Moment};
#[cfg(feature = "std")]
use crate::time::{cancel::Uncancelled, clock, skip, timer::TimerFn};

/// How a blocking function sleeps between attempts: the key `timer`.
///
/// Without the key it is the thread that sleeps. Name a type of your own where the thread has something better to do,
/// or where time is not the system's, as in a simulation; or a function of a `Duration`:
///
/// ```
/// use std::cell::Cell;
/// use std::time::Duration;
/// use retry_runtime::{BlockingTimer, Moment, retry};
///
/// /// Time that passes only while somebody sleeps.
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
    note = "pass a type that implements `retry_runtime::BlockingTimer`, or a function of a `Duration` in `TimerFn::new`",
    note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
)]
pub trait BlockingTimer {
    /// Returns after that long.
    fn sleep(&self, duration: Duration);

    /// The time on the clock that [`sleep`](Self::sleep) follows. Deadlines and elapsed times are measured with it, so
    /// it must not be set back. The default is the system's; without the feature `std` there is none.
    #[cfg(feature = "std")]
    fn now(&self) -> Moment {
        clock::now_blocking()
    }

    /// The time on the clock that [`sleep`](Self::sleep) follows.
    #[cfg(not(feature = "std"))]
    fn now(&self) -> Moment;

    /// Sleeps that long, or until the call is cancelled, and returns whether it is: the key `cancel`.
    ///
    /// By default it sleeps for 10 ms at a time. In between it asks [`Cancel::is_cancelled`] and reads
    /// [`now`](Self::now), because a sleep may take longer.
    fn sleep_or_cancelled(&self, duration: Duration, cancel: &dyn Cancel) -> bool {
        if cancel.is_never() {
            self.sleep(duration);
            return false;
        }
        let mut left = duration;
        let began = self.now();
        loop {
            if cancel.is_cancelled() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            let step = left.min(STEP);
            self.sleep(step);
            // A coarse timer is late at every step. One whose clock stands has slept all the same.
            let unslept = duration.saturating_sub(self.now().since(began));
            left = left.saturating_sub(step).min(unslept);
        }
    }

    /// Sleeps for at most that long, and no longer than until this thread is unparked, for as long as it likes.
    #[doc(hidden)]
    fn park(&self, at_most: Option<Duration>) {
        self.sleep(at_most.map_or(STEP, |most| most.min(STEP)));
    }

    /// How long to sleep really, in a test that skips pauses.
    #[doc(hidden)]
    fn to_sleep(&self, duration: Duration) -> Duration {
        duration
    }

    /// What tells an attempt the time.
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

/// The timer of calls that name none. Async calls use the page's timer in a browser with the feature `browser`, or else
/// tokio's with the feature `tokio`. Blocking calls sleep on their thread. Without the feature `std`, it is not a
/// timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTimer;

#[cfg(feature = "std")]
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
