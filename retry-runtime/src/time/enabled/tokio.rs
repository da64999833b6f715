//! tokio's timer and clock, so that a paused clock also controls deadlines.

use core::future::Future;
use core::time::Duration;
pub(crate) use std::time::Instant;

use crate::forward::forward;
use crate::time::blocking_timer::DefaultTimer;
pub(crate) use crate::time::enabled::wake::GiveWay;
pub use crate::time::enabled::wake::give_way;
use crate::time::enabled::{Features, HasTimer};
use crate::time::skip;
use crate::time::tokio_timer::{A_CALL, TokioTimer, expect_tokio, tokio_sleep};
use crate::time::{Clock, Timer};

#[inline]
pub(crate) fn instant() -> Instant {
    tokio::time::Instant::now().into_std()
}

forward!(@held Timer {
    #![diagnostic::do_not_recommend]
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()>;
    fn clock(&self) -> Clock;
    fn expect<'n>(&self, call: impl FnOnce() -> &'n str);
} [] [] DefaultTimer, |_timer| TokioTimer);

impl HasTimer for Features {
    type Timer = TokioTimer;
}

/// Sleeps with tokio's timer.
#[inline]
#[track_caller]
pub fn sleep(pause: Duration, _: Features) -> tokio::time::Sleep {
    tokio_sleep(skip::to_sleep(pause))
}

/// Panics in debug builds, before the first failure, if there is no runtime to wait with.
#[inline]
#[track_caller]
pub fn expect_timer() {
    expect_tokio(|| A_CALL);
}
