//! The key `limiter`.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::{Pin, pin};
use core::time::Duration;

use crate::call::state::Call;
use crate::classify::rejected::RejectedBy;
use crate::limiter::place::{Leave, Place};
use crate::limiter::{End, Limiter, LimiterChanges, waiting};
use crate::observe::report::Observe;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// Takes a place, and the turn if that has come already.
#[inline]
pub fn place<L: Limiter>(limiter: L) -> Place<L> {
    Place::new(limiter)
}

/// Whether the turn has come.
#[inline]
pub fn has_turn<L>(place: &Place<L>) -> bool {
    place.has_turn()
}

/// Tells of the wait that begins. Returns whether one does.
#[cold]
#[inline(never)]
pub fn waits<L>(
    call: &Call,
    name: &str,
    place: &mut Place<L>,
    observe: Option<Observe<'_>>,
) -> bool {
    call.waits(name, place, observe)
}

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

/// Tells of the wait that is over.
#[cold]
#[inline(never)]
pub fn waited(call: &Call, name: &str, waited: Duration, observe: Option<Observe<'_>>) {
    call.waited(name, waited, observe);
}

/// The turn goes back, because nothing else lets the attempt begin.
pub fn give_back<L>(place: Place<L>) {
    place.give_back();
}

/// Tells the limiter that the server answered.
#[inline]
pub fn left<L>(place: &mut Place<L>) -> Option<LimiterChanges> {
    place.leave(End::Success)
}

/// Tells of what the answer changed.
#[cold]
#[inline(never)]
pub fn limiter_changed(
    call: &Call,
    name: &str,
    changes: LimiterChanges,
    observe: Option<Observe<'_>>,
) {
    call.limiter_changed(name, changes, observe);
}
