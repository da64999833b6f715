//! Sleeping, and the key `timer`.

#[cfg(feature = "std")]
use core::future::Future;
use core::time::Duration;

#[cfg(feature = "std")]
use super::ViaFn;
use super::ViaTrait;
use crate::time::blocking_timer::BlockingTimer;
#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
use crate::time::default_timer::DefaultTimer;
#[cfg(all(
    feature = "tokio",
    not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
))]
use crate::time::skip;
use crate::time::timer::Timer;
#[cfg(feature = "std")]
use crate::time::timer::TimerFn;

/// What the key `timer` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer",
    label = "neither a `Timer` nor a function from `Duration` to a future"
)]
#[cfg_attr(
    feature = "std",
    diagnostic::on_unimplemented(
        note = "give a type that implements `retry_runtime::Timer`, or a function from `Duration` to a future"
    )
)]
#[cfg_attr(
    not(feature = "std"),
    diagnostic::on_unimplemented(
        note = "without the feature `std` of `retry-runtime` there is no system clock: with `timer = …`, name a type that implements `retry_runtime::Timer`"
    )
)]
pub trait IntoTimer<Via> {
    type Timer: Timer;
    fn into_timer(self) -> Self::Timer;
}

impl<T: Timer> IntoTimer<ViaTrait> for T {
    type Timer = T;
    fn into_timer(self) -> T {
        self
    }
}

#[cfg(feature = "std")]
impl<F: Fn(Duration) -> S, S: Future> IntoTimer<ViaFn> for F {
    type Timer = TimerFn<F>;
    fn into_timer(self) -> TimerFn<F> {
        TimerFn::new(self)
    }
}

/// What the key `timer` takes on a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer by blocking code",
    label = "neither a `BlockingTimer` nor a function of a `Duration`"
)]
#[cfg_attr(
    feature = "std",
    diagnostic::on_unimplemented(
        note = "give a type that implements `retry_runtime::BlockingTimer`, or a function of a `Duration` as in `std::thread::sleep`"
    )
)]
#[cfg_attr(
    not(feature = "std"),
    diagnostic::on_unimplemented(
        note = "without the feature `std` of `retry-runtime` there is neither a thread to sleep nor a system clock: with `timer = …`, name a type that implements `retry_runtime::BlockingTimer`"
    )
)]
pub trait IntoBlockingTimer<Via> {
    type Timer: BlockingTimer;
    fn into_timer(self) -> Self::Timer;
}

impl<T: BlockingTimer> IntoBlockingTimer<ViaTrait> for T {
    type Timer = T;
    fn into_timer(self) -> T {
        self
    }
}

#[cfg(feature = "std")]
impl<F: Fn(Duration)> IntoBlockingTimer<ViaFn> for F {
    type Timer = TimerFn<F>;
    fn into_timer(self) -> TimerFn<F> {
        TimerFn::new(self)
    }
}

/// Implemented where a feature brings a timer.
#[diagnostic::on_unimplemented(
    message = "an async function under `#[retry]` has no timer to wait with",
    label = "no timer",
    note = "enable the feature `tokio` of `retry-runtime`, in a browser `browser`, or name another runtime's timer with `timer = …`"
)]
pub trait HasTimer {
    type Timer: Timer + Default;
}

/// Stands for the features that are enabled.
pub struct Features;

#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
impl HasTimer for Features {
    type Timer = DefaultTimer;
}

#[cfg(all(
    feature = "tokio",
    not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
))]
impl HasTimer for Features {
    type Timer = crate::time::tokio_timer::TokioTimer;
}

pub fn default_timer<F: HasTimer>() -> F::Timer {
    F::Timer::default()
}

/// Sleeps with the timer that a feature provides. If none does, the bound fails with a helpful message.
#[cfg(all(feature = "browser", target_family = "wasm", target_os = "unknown"))]
pub fn sleep(pause: Duration, _: Features) -> impl Future<Output = ()> {
    Timer::sleep(&DefaultTimer, pause)
}

/// Sleeps with tokio's timer.
#[cfg(all(
    feature = "tokio",
    not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
))]
#[inline]
#[track_caller]
pub fn sleep(pause: Duration, _: Features) -> tokio::time::Sleep {
    if skip::is_on() {
        return sleep_skipping(pause);
    }
    crate::time::tokio_timer::tokio_sleep(pause)
}

/// A separate function, so that nothing must be kept across the check whether to skip.
#[cfg(all(
    feature = "tokio",
    not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
))]
#[cold]
#[inline(never)]
#[track_caller]
fn sleep_skipping(pause: Duration) -> tokio::time::Sleep {
    crate::time::tokio_timer::tokio_sleep(skip::to_sleep(pause))
}

/// Panics in debug builds, before the first failure, if there is no runtime to wait with.
#[inline]
#[track_caller]
pub fn expect_timer() {
    #[cfg(all(
        feature = "tokio",
        not(all(feature = "browser", target_family = "wasm", target_os = "unknown"))
    ))]
    crate::time::tokio_timer::expect_tokio(|| crate::time::tokio_timer::A_CALL);
}

/// Never called, because without the feature nothing has a timer.
#[cfg(not(any(
    feature = "tokio",
    all(feature = "browser", target_family = "wasm", target_os = "unknown")
)))]
pub fn sleep(_: Duration, _: impl HasTimer) -> core::future::Pending<()> {
    core::future::pending()
}
