//! Yields to the executor by waking the task; for all targets except pages.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Yields to the executor once.
#[derive(Debug)]
pub struct GiveWay {
    is_due: bool,
}

/// Returns a future that wakes its task and is pending once, so that a loop whose sleeps take no time can be dropped,
/// and a timeout around the loop can fire.
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
