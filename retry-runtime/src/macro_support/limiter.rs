//! The key `limiter`.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::{Pin, pin};
use core::time::Duration;

use crate::classify::rejected::RejectedBy;
use crate::limiter::place::Place;
use crate::limiter::waiting;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// Waits for the turn.
pub async fn wait<L>(
    place: &mut Place<L>,
    timer: impl Timer,
    deadline: Option<Moment>,
) -> Result<Duration, RejectedBy> {
    let cancelled = pin!(core::future::pending::<()>());
    waiting::wait(place, timer, deadline, cancelled).await
}

/// Waits for the turn, until the call is cancelled.
pub async fn wait_or_cancelled<L, F: Future>(
    place: &mut Place<L>,
    timer: impl Timer,
    deadline: Option<Moment>,
    mut cancelled: Pin<Box<F>>,
) -> Result<Duration, RejectedBy> {
    waiting::wait(place, timer, deadline, cancelled.as_mut()).await
}

/// Waits for the turn on this thread.
pub fn wait_blocking<L>(
    place: &mut Place<L>,
    timer: &impl BlockingTimer,
    deadline: Option<Moment>,
    cancel: &impl Cancel,
) -> Result<Duration, RejectedBy> {
    waiting::wait_blocking(place, timer, deadline, cancel)
}
