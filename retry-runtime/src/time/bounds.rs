use alloc::boxed::Box;
use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

use crate::time::cancel::{MayCancel, Remembered};
use crate::time::moment::Moment;
use crate::time::pause::{own_waker, pause_or_cancelled, race};
use crate::time::timer::{Timer, sleep_until};

/// What ends a batch or a plan before its work is done: its deadline, and a signal that cancels it.
pub struct Bounds<End, Cancelled> {
    end: Pin<Box<End>>,
    /// Can be polled again after it has come.
    cancelled: Remembered<Pin<Box<Cancelled>>>,
    waker: Waker,
}

/// Starts to wait for the deadline, on the timer's clock.
pub async fn bounds<T: Timer, C: MayCancel>(
    timer: &T,
    deadline: Option<Moment>,
    cancel: C,
) -> Bounds<impl Future<Output = ()> + use<'_, T, C>, C::Future> {
    Bounds {
        end: Box::pin(sleep_until(timer, deadline)),
        cancelled: Remembered::new(Box::pin(cancel.into_cancelled())),
        waker: own_waker().await,
    }
}

impl<End: Future<Output = ()>, Cancelled: Future> Bounds<End, Cancelled> {
    /// Returns true if the signal has come.
    pub fn is_cancelled(&mut self) -> bool {
        let mut context = Context::from_waker(&self.waker);
        Pin::new(&mut self.cancelled).poll(&mut context).is_ready()
    }

    /// Returns true if the signal has come. Otherwise the task is woken when it does.
    pub fn poll_cancelled(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.cancelled).poll(context).is_ready()
    }

    /// Ready at the deadline.
    pub fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.end.as_mut().poll(context)
    }

    /// Sleeps until `sleep` completes or the signal comes.
    pub async fn pause(&mut self, sleep: impl Future) {
        pause_or_cancelled(Pin::new(&mut self.cancelled), pin!(sleep)).await;
    }

    /// The output of `work`, or `None` if the deadline comes first.
    pub async fn in_time<F: Future>(&mut self, work: F) -> Option<F::Output> {
        race(pin!(work), self.end.as_mut()).await
    }
}
