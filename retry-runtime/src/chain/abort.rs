//! The key `abort` of a chain, and what it is to attempts.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::chain::keys::Ends;
use crate::classify::cancelled::Cancelled;
use crate::classify::conversions::FromCancelled;
use crate::time::cancel::{AbortedBy, CancelledBy, MayAbort, Uncancelled, abortable};

impl Ends for Uncancelled {
    type Key = ();
}

impl<C> Ends for CancelledBy<C> {
    type Key = Option<C>;
}

/// The call ends with an error of its own.
impl<C> Ends for AbortedBy<C> {
    type Key = ();
}

/// How a call ends with an error of type `E` where it is aborted.
#[diagnostic::on_unimplemented(
    message = "`abort` needs an error type that `Cancelled` converts to, and `{E}` is not one",
    label = "`{E}` has no `From<Cancelled>`",
    note = "write `impl From<retry_runtime::Cancelled> for {E}`, or use `cancel`, which ends pauses alone"
)]
pub trait Aborts<E>: Ends {
    /// True if something aborts it.
    const ABORTS: bool = false;

    /// The error, if something does.
    fn aborted() -> E {
        unreachable!("nothing aborts the call");
    }
}

impl<E> Aborts<E> for Uncancelled {}

impl<E, C> Aborts<E> for CancelledBy<C> {}

#[diagnostic::do_not_recommend]
impl<E: FromCancelled, C> Aborts<E> for AbortedBy<C> {
    const ABORTS: bool = true;

    fn aborted() -> E {
        E::from_cancelled(Cancelled::new())
    }
}

/// Awaits something other than an attempt. Returns `None` once the call is aborted.
// On the heap, so that calls without it need no room for it.
pub(crate) async fn unless_aborted<E, C, F>(
    cancelled: Pin<&mut C::Future>,
    future: F,
) -> Option<F::Output>
where
    C: MayAbort + Aborts<E>,
    F: Future,
{
    if C::ABORTS {
        abortable(Box::pin(future).as_mut(), cancelled).await
    } else {
        Some(future.await)
    }
}

pin_project! {
    /// An attempt, and whether its call was cancelled by its end, or dropped it. Asked within one await, since an error that
    /// is kept over another must be `Send`.
    pub(crate) struct Cancellable<'a, F, C> where C: MayAbort {
        #[pin]
        pub(crate) attempt: F,
        pub(crate) cancelled: Pin<&'a mut C::Future>,
    }
}

impl<T, E, F, C> Future for Cancellable<'_, F, C>
where
    F: Future<Output = (Result<T, E>, bool)>,
    C: MayAbort + Aborts<E>,
{
    type Output = (F::Output, bool);

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Before the attempt, as for `abortable`.
        let is_aborted = C::ABORTS && this.cancelled.as_mut().poll(context).is_ready();
        match this.attempt.poll(context) {
            Poll::Ready(output) => {
                let is_cancelled = !C::ABORTS && this.cancelled.as_mut().poll(context).is_ready();
                Poll::Ready((output, is_cancelled))
            }
            Poll::Pending if is_aborted => Poll::Ready(((Err(C::aborted()), false), true)),
            Poll::Pending => Poll::Pending,
        }
    }
}
