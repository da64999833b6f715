//! The key `timer`.

#[cfg(feature = "std")]
use core::future::Future;
#[cfg(feature = "std")]
use core::time::Duration;

#[cfg(feature = "std")]
use super::ViaFn;
use super::ViaTrait;
use crate::time::blocking_timer::BlockingTimer;
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
