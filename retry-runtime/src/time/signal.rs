use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Waker};

use crate::time::{Remembered, own_waker, pause_or_cancelled};

/// A signal that may cancel a batch or a plan, and can be polled again after it has come.
pub(crate) struct Signal<'a, F> {
    cancelled: Remembered<Pin<&'a mut F>>,
    waker: Waker,
}

impl<'a, F: Future> Signal<'a, F> {
    pub(crate) async fn new(cancelled: Pin<&'a mut F>) -> Self {
        Self {
            cancelled: Remembered::new(cancelled),
            waker: own_waker().await,
        }
    }

    pub(crate) fn is_cancelled(&mut self) -> bool {
        let waker = self.waker.clone();
        self.poll(&mut Context::from_waker(&waker))
    }

    /// Returns true if the signal has come. Otherwise the task is woken when it does.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.cancelled).poll(context).is_ready()
    }

    /// Sleeps until `sleep` completes or the signal comes.
    pub(crate) async fn pause(&mut self, sleep: Pin<&mut impl Future>) {
        pause_or_cancelled(Pin::new(&mut self.cancelled), sleep).await;
    }
}
