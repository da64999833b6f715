//! The default timers, and yielding in async calls. Features and the target select a page's timer, tokio's, or neither.

#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
mod page;
#[cfg(feature = "tokio")]
#[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
mod tokio;

#[cfg(feature = "std")]
use core::time::Duration;
#[cfg(feature = "std")]
use std::thread;

#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
pub use self::page::yield_now;
#[cfg(feature = "tokio")]
#[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
pub use self::tokio::expect_timer;
use crate::time::Timer;
#[cfg(feature = "std")]
use crate::time::{BlockingTimer, Clock, clock, skip};

/// The timer of calls that don't set one. Async calls use the page's timer in a browser with the feature `browser`, or
/// else tokio's with the feature `tokio`. Blocking calls sleep on their thread. Without the feature `std`, this type is
/// not a timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTimer;

#[cfg(feature = "std")]
#[diagnostic::do_not_recommend]
impl BlockingTimer for DefaultTimer {
    fn sleep(&self, duration: Duration) {
        let pause = self.to_sleep(duration);
        // A page's thread panics if it sleeps, even for zero time.
        if !pause.is_zero() {
            thread::sleep(pause);
        }
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

/// Implemented by [`Features`] if a feature provides a timer.
#[diagnostic::on_unimplemented(
    message = "an async function under `#[retry]` needs a timer, and no feature provides one",
    label = "no timer",
    note = "enable the feature `tokio` of `retry-runtime`, `browser` in a browser, or set another runtime's timer with `timer = …`"
)]
pub trait HasTimer {
    /// The timer that the features provide.
    type Timer: Timer + Default;
}

/// The enabled features.
pub struct Features;

/// Returns the timer that the features provide.
pub fn default_timer<F: HasTimer>() -> F::Timer {
    F::Timer::default()
}

/// Does nothing: a page always has a timer, and without a timer, functions don't compile.
#[cfg(any(
    not(feature = "tokio"),
    all(feature = "browser", target_family = "wasm", target_os = "unknown")
))]
pub fn expect_timer() {}

/// Yields to the executor once, so that a loop whose sleeps take no time can be dropped, and a timeout around the loop
/// can fire.
#[cfg(not(all(feature = "browser", target_family = "wasm", target_os = "unknown")))]
pub async fn yield_now() {
    let mut is_due = true;
    core::future::poll_fn(|context| {
        if core::mem::take(&mut is_due) {
            context.waker().wake_by_ref();
            return core::task::Poll::Pending;
        }
        core::task::Poll::Ready(())
    })
    .await;
}
