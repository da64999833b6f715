//! Yielding to an executor, outside of a page.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Yields to the executor once.
#[derive(Debug)]
pub struct GiveWay {
    is_due: bool,
}

/// Wakes the task, so that a loop whose sleeps are over at once can be dropped, and a timeout around
/// it can fire.
pub fn give_way() -> GiveWay {
    GiveWay { is_due: true }
}

impl Future for GiveWay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !mem::take(&mut self.is_due) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
