//! An attempt of an async call, which a timeout or an abort may drop.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

/// The end of an attempt.
pub(super) enum Attempted<V> {
    /// The outcome, or `None` if the time limit was reached; and true if the call was cancelled by then.
    Ended(Option<V>, bool),
    /// The call was aborted.
    Aborted,
}

pin_project! {
    /// An attempt, which ends at its time limit at the latest, or once the call is aborted.
    ///
    /// Also polls the cancellation, because an error that is kept over another await must be `Send`.
    pub(super) struct Attempting<'a, F, S, C> {
        #[pin]
        pub(super) attempt: F,
        pub(super) end: Option<Pin<Box<S>>>,
        pub(super) cancelled: Pin<&'a mut C>,
        pub(super) aborts: bool,
    }
}

impl<F: Future, S: Future, C: Future> Future for Attempting<'_, F, S, C> {
    type Output = Attempted<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Polled before the attempt, which may use up tokio's budget for one poll of a task.
        let is_aborted = *this.aborts && this.cancelled.as_mut().poll(context).is_ready();
        let outcome = match this.attempt.poll(context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => {
                let end = this.end.as_mut();
                let is_late = end.is_some_and(|end| end.as_mut().poll(context).is_ready());
                match (is_late, is_aborted) {
                    (true, _) => None,
                    (false, true) => return Poll::Ready(Attempted::Aborted),
                    (false, false) => return Poll::Pending,
                }
            }
        };
        let is_cancelled = !*this.aborts && this.cancelled.as_mut().poll(context).is_ready();
        Poll::Ready(Attempted::Ended(outcome, is_cancelled))
    }
}
