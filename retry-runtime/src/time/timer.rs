use alloc::sync::Arc;
use core::time::Duration;

use crate::forward::forward;
use crate::time::{Clock, Moment};
#[cfg(feature = "std")]
use crate::time::{clock, skip};

/// The timer with which an async function sleeps between attempts: the key `timer`. In blocking code, the key takes a
/// [`BlockingTimer`](crate::seam::BlockingTimer).
///
/// With the feature `tokio` (default), functions use tokio's timer unless they set another; in a browser with the
/// feature `browser`, the page's. For another runtime, implement `Timer`, or pass a function from `Duration` to a
/// future:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::seam::Timer;
/// use retry_runtime::retry;
///
/// #[derive(Clone, Copy)]
/// struct Smol;
///
/// impl Timer for Smol {
///     async fn sleep(&self, duration: Duration) {
///         smol::Timer::after(duration).await;
///     }
/// }
///
/// #[retry(timer = Smol, on = |_| true)]
/// async fn fetch() -> Result<u32, String> {
///     Ok(42)
/// }
///
/// #[retry(timer = smol::Timer::after, on = |_| true)]
/// async fn fetch_again() -> Result<u32, String> {
///     Ok(42)
/// }
/// # smol::block_on(async {
/// assert_eq!(fetch().await, Ok(42));
/// assert_eq!(fetch_again().await, Ok(42));
/// # });
/// ```
///
/// The annotated function's future is `Send` only if `sleep`'s future is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer",
    label = "not a `Timer`",
    note = "pass a type that implements `retry_runtime::seam::Timer`, or a function from `Duration` to a future in `TimerFn::new`",
    note = "a function needs the feature `std` of `retry-runtime`, for the system's clock"
)]
pub trait Timer {
    /// Returns a future that completes after `duration`.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()>;

    /// Returns the time on the clock that [`sleep`](Self::sleep) uses. This clock measures deadlines and elapsed times,
    /// so it must never go back.
    ///
    /// The default is tokio's clock with the feature `tokio`, so that a timer around tokio's follows a paused clock; in
    /// a browser with the feature `browser`, the page's; otherwise the system's. A timer with its own clock, as in a
    /// replaying engine or a simulation, returns that clock's time. Without the feature `std` there is no default.
    #[cfg(feature = "std")]
    fn now(&self) -> Moment {
        clock::now()
    }

    /// Returns the time on the clock that [`sleep`](Self::sleep) uses.
    #[cfg(not(feature = "std"))]
    fn now(&self) -> Moment;

    /// The clock that an attempt reads.
    #[doc(hidden)]
    fn clock(&self) -> Clock {
        Clock::Read(self.now())
    }

    /// Panics in debug builds, with the call's name, if the timer can't sleep here. Called at the start of a call,
    /// before any failure.
    #[doc(hidden)]
    fn expect<'n>(&self, _: impl FnOnce() -> &'n str) {}
}

forward! {
    Timer {
        fn sleep(&self, duration: Duration) -> impl Future<Output = ()>;
        fn now(&self) -> Moment;
        fn clock(&self) -> Clock;
        fn expect<'n>(&self, call: impl FnOnce() -> &'n str);
    }
    for &T, Arc<T>
}

/// A function as a timer. A function from `Duration` to a future makes a [`Timer`], and one that sleeps for a
/// `Duration` a [`BlockingTimer`](crate::seam::BlockingTimer). Both use the trait's default clock. Without the feature
/// `std`, there is no default clock, so `TimerFn` implements neither trait.
#[derive(Clone, Copy, Debug)]
pub struct TimerFn<F>(pub(crate) F);

impl<F: Fn(Duration) -> S, S> TimerFn<F> {
    /// Creates a timer from a function.
    pub const fn new(sleep: F) -> Self {
        Self(sleep)
    }
}

#[cfg(feature = "std")]
impl<F: Fn(Duration) -> S, S: Future> Timer for TimerFn<F> {
    async fn sleep(&self, duration: Duration) {
        (self.0)(duration).await;
    }

    fn clock(&self) -> Clock {
        Clock::Live(clock::now)
    }
}

/// Completes after the time limit, or never if it is `None`. Tests don't skip this sleep, because every attempt would
/// then time out at once.
pub fn sleep_out(timer: impl Timer, limit: Option<Duration>) -> impl Future<Output = ()> {
    let sleep = async move {
        match limit {
            Some(limit) => timer.sleep(limit).await,
            None => core::future::pending().await,
        }
    };
    #[cfg(feature = "std")]
    let sleep = skip::Unskipped { sleep };
    sleep
}

/// Completes at `end`, or never if it is `None`.
pub(crate) async fn sleep_until(timer: impl Timer, end: Option<Moment>) {
    let left = end.map(|end| end.since(timer.now()));
    sleep_out(timer, left).await;
}
