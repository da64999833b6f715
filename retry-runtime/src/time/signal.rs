use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Waker};

use crate::time::cancel::is_cancelled;
use crate::time::pause::{OwnWaker, pause_or_cancelled};

/// What may cancel a batch or a plan, which asks again after it was cancelled.
pub(crate) struct Signal<'a, F> {
    cancelled: Pin<&'a mut F>,
    waker: Waker,
    has_come: bool,
}

impl<'a, F: Future> Signal<'a, F> {
    pub(crate) async fn new(cancelled: Pin<&'a mut F>) -> Self {
        Self {
            cancelled,
            waker: OwnWaker.await,
            has_come: false,
        }
    }

    pub(crate) fn is_cancelled(&mut self) -> bool {
        self.has_come = self.has_come || is_cancelled(self.cancelled.as_mut(), &self.waker);
        self.has_come
    }

    /// Whether the signal has come. The task is woken once it does.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        self.has_come = self.has_come || self.cancelled.as_mut().poll(context).is_ready();
        self.has_come
    }

    /// The pause that `sleep` is, or as much of it as there is before it is cancelled.
    pub(crate) async fn pause(&mut self, sleep: Pin<&mut impl Future>) {
        if !self.has_come {
            self.has_come = pause_or_cancelled(self.cancelled.as_mut(), sleep).await;
        }
    }
}
