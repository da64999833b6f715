//! Pauses that let the executor do something else, however short they are.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// Yields to the executor once, so that a loop whose sleeps are over at once can be dropped, and a timeout around it
/// can fire. After every sleep, also one that has waited: to know which has would take room beside the sleep in each
/// future.
pub fn give_way() -> impl Future<Output = ()> {
    let mut is_due = true;
    poll_fn(move |context| {
        if !mem::take(&mut is_due) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// A sleep that yields to the executor where it is over at once.
pub(crate) struct Pause<'a, S> {
    sleep: Pin<&'a mut S>,
    state: PauseState,
}

enum PauseState {
    Begins,
    Sleeps,
    GaveWay,
}

impl<'a, S: Future> Pause<'a, S> {
    pub(crate) fn new(sleep: Pin<&'a mut S>) -> Self {
        Self {
            sleep,
            state: PauseState::Begins,
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.state {
            PauseState::Begins => {
                if self.sleep.as_mut().poll(context).is_pending() {
                    self.state = PauseState::Sleeps;
                } else {
                    self.state = PauseState::GaveWay;
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
            PauseState::Sleeps => self.sleep.as_mut().poll(context).map(drop),
            PauseState::GaveWay => Poll::Ready(()),
        }
    }
}

/// The pause that `sleep` is, cut short once `cancelled` completes: then true. Where both are over, it counts as
/// cancelled. One that is over at once yields to the executor all the same.
pub(crate) fn pause_or_cancelled(
    mut cancelled: Pin<&mut impl Future>,
    sleep: Pin<&mut impl Future>,
) -> impl Future<Output = bool> {
    let mut pause = Pause::new(sleep);
    poll_fn(move |context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        pause.poll(context).map(|()| false)
    })
}

/// The waker of the task that waits for it. Embassy's timers refuse any other.
#[derive(Debug)]
pub struct OwnWaker;

impl Future for OwnWaker {
    type Output = Waker;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Waker> {
        Poll::Ready(context.waker().clone())
    }
}
