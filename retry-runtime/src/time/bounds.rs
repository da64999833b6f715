use alloc::boxed::Box;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

use crate::time::cancel::{MayCancel, Remembered};
use crate::time::moment::Moment;
use crate::time::pause::{pause_or_cancelled, race, task_waker};
use crate::time::timer::{Timer, sleep_until};

/// The deadline of a batch or a plan, and the signal that cancels the job. Either may end the job early.
pub struct Bounds<End, Cancelled> {
    end: Pin<Box<End>>,
    /// The signal. May be polled again after it has completed.
    cancelled: Remembered<Pin<Box<Cancelled>>>,
    waker: Waker,
}

/// Creates the bounds of the job with this name. The deadline is a time on the timer's clock.
pub async fn bounds<'t, T: Timer, C: MayCancel>(
    timer: &'t T,
    name: &str,
    deadline: Option<Moment>,
    cancel: C,
) -> Bounds<impl Future<Output = ()> + use<'t, T, C>, C::Future> {
    timer.expect(|| name);
    Bounds {
        end: Box::pin(sleep_until(timer, deadline)),
        cancelled: Remembered::new(Box::pin(cancel.into_cancelled())),
        waker: task_waker().await,
    }
}

impl<End: Future<Output = ()>, Cancelled: Future> Bounds<End, Cancelled> {
    /// Returns true if the job was cancelled.
    pub fn is_cancelled(&mut self) -> bool {
        let mut context = Context::from_waker(&self.waker);
        Pin::new(&mut self.cancelled).poll(&mut context).is_ready()
    }

    /// Returns true if the job was cancelled. Otherwise the cancellation wakes the task.
    pub fn poll_cancelled(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.cancelled).poll(context).is_ready()
    }

    /// Ready once the deadline has passed.
    pub fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.end.as_mut().poll(context)
    }

    /// Sleeps until `sleep` completes or the job is cancelled.
    pub async fn pause(&mut self, sleep: impl Future) {
        pause_or_cancelled(Pin::new(&mut self.cancelled), pin!(sleep)).await;
    }

    /// The output of `work`, or `None` if the deadline comes first.
    pub async fn run_until_end<F: Future>(&mut self, work: F) -> Option<F::Output> {
        race(pin!(work), self.end.as_mut()).await
    }
}
