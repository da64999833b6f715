//! The keys `cancel`, which ends a pause early, and `abort`, which also drops an attempt in flight.

use alloc::sync::Arc;
use core::future::{IntoFuture, Pending, pending, poll_fn};
use core::ops::DerefMut;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, ready};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::forward::forward;
use crate::opaque_debug::opaque_debug;

/// The interval at which a blocking pause checks whether the call is cancelled.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A signal that cancels blocking calls: the key `cancel` of a blocking function.
///
/// An `AtomicBool` is a `Cancel`, and so is a function that returns a `bool`, in [`CancelFn`] or as the key's value.
/// Either is checked every 10 ms during a pause.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use retry_runtime::retry;
///
/// #[retry(max = "unlimited", cancel = is_down, on = |_| true)]
/// fn connect(is_down: &AtomicBool) -> Result<(), String> {
///     is_down.store(true, Ordering::Release);
///     Err(String::from("refused"))
/// }
///
/// assert_eq!(connect(&AtomicBool::new(false)), Err(String::from("refused")));
/// ```
///
/// A timer that can wake its thread ends a pause at once: see
/// [`BlockingTimer::sleep_or_cancelled`](crate::seam::BlockingTimer::sleep_or_cancelled).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cancel a blocking call",
    label = "neither a `Cancel` nor a function that returns a `bool`",
    note = "pass an `&AtomicBool`, a function such as `|| token.is_cancelled()`, or a type that implements `retry_runtime::Cancel`"
)]
pub trait Cancel {
    /// Returns true if calls should give up. Called after each failure, and during pauses and waits.
    fn is_cancelled(&self) -> bool;

    /// Returns true if this signal never cancels anything, so it need not be checked.
    #[doc(hidden)]
    fn is_never(&self) -> bool {
        false
    }
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Ordering::Acquire)
    }
}

forward! {
    Cancel {
        #![diagnostic::do_not_recommend]
        fn is_cancelled(&self) -> bool;
        fn is_never(&self) -> bool;
    }
    for &T, Arc<T>;
    [C: Cancel] CancelledBy<C>, |cancelled| cancelled.0
}

/// A function that returns a `bool`, as a [`Cancel`].
///
/// ```
/// use retry_runtime::seam::CancelFn;
/// use retry_runtime::Policy;
///
/// let is_stopping = || true;
/// let outcome = Policy::new().cancel(CancelFn::new(is_stopping)).call_blocking(|| {
///     Err::<(), _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))
/// });
/// assert!(outcome.is_err()); // at once
/// ```
#[derive(Clone, Copy)]
pub struct CancelFn<F>(F);

impl<F: Fn() -> bool> CancelFn<F> {
    /// Creates a signal from a function. The function is called after each failure, and every 10 ms during a pause.
    pub const fn new(is_cancelled: F) -> Self {
        Self(is_cancelled)
    }
}

impl<F: Fn() -> bool> Cancel for CancelFn<F> {
    fn is_cancelled(&self) -> bool {
        (self.0)()
    }
}

opaque_debug!(CancelFn [F];);

/// The types that the key `cancel` accepts on an async function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cancel an async call",
    label = "not a future of `()`",
    note = "pass a future that completes when the call should give up, as in `token.cancelled()`, or a type that implements `IntoFuture<Output = ()>`"
)]
pub trait IntoCancelled {
    type Future: Future<Output = ()>;
    fn into_cancelled(self) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<C: IntoFuture<Output = ()>> IntoCancelled for C {
    type Future = C::IntoFuture;

    fn into_cancelled(self) -> C::IntoFuture {
        self.into_future()
    }
}

/// Never cancels the call: the default of [`PolicyCall`](crate::chain::PolicyCall).
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncancelled;

impl Cancel for Uncancelled {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn is_never(&self) -> bool {
        true
    }
}

/// The argument of [`PolicyCall::cancel`](crate::chain::PolicyCall::cancel).
#[derive(Clone, Copy, Debug)]
pub struct CancelledBy<C>(pub(crate) C);

/// The argument of [`PolicyCall::abort`](crate::chain::PolicyCall::abort).
#[derive(Clone, Copy, Debug)]
pub struct AbortedBy<C>(pub(crate) C);

/// The types that may end an async call early: [`Uncancelled`], which never does, or the future of `()` passed to
/// [`PolicyCall::cancel`](crate::chain::PolicyCall::cancel) ([`CancelledBy`]) or
/// [`PolicyCall::abort`](crate::chain::PolicyCall::abort) ([`AbortedBy`]). A bound for functions that are generic over
/// chains.
pub trait MayAbort {
    /// Completes once the call is cancelled.
    type Future: Future<Output = ()>;
    /// Converts the value into the future.
    fn into_cancelled(self) -> Self::Future;
}

/// The types that may cancel a batch or a plan, which have no `abort`: all of [`MayAbort`] except [`AbortedBy`].
pub trait MayCancel: MayAbort {}

impl MayCancel for Uncancelled {}

impl<C: IntoCancelled> MayCancel for CancelledBy<C> {}

impl MayAbort for Uncancelled {
    type Future = Pending<()>;

    #[inline]
    fn into_cancelled(self) -> Pending<()> {
        pending()
    }
}

impl<C: IntoCancelled> MayAbort for CancelledBy<C> {
    type Future = C::Future;

    #[inline]
    fn into_cancelled(self) -> C::Future {
        self.0.into_cancelled()
    }
}

impl<C: IntoCancelled> MayAbort for AbortedBy<C> {
    type Future = Remembered<C::Future>;

    fn into_cancelled(self) -> Self::Future {
        Remembered::new(self.0.into_cancelled())
    }
}

pin_project! {
    /// A signal that may be polled again after it has completed.
    #[derive(Debug)]
    pub struct Remembered<F> {
        #[pin]
        future: F,
        has_come: bool,
    }
}

impl<F> Remembered<F> {
    pub(crate) const fn new(future: F) -> Self {
        let has_come = false;
        Self { future, has_come }
    }
}

impl<F: Future> Future for Remembered<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if !*this.has_come {
            ready!(this.future.poll(context));
            *this.has_come = true;
        }
        Poll::Ready(())
    }
}

/// The output of `looped`, or `None` if `aborted` completes first. `aborted` is polled first, so that an aborted call
/// doesn't start. Once a call has started, `looped` is polled anyway, so that an outcome that is ready is not lost.
pub fn abortable<L: Future>(
    mut looped: Pin<&mut L>,
    mut aborted: Pin<impl DerefMut<Target: Future<Output = ()>>>,
) -> impl Future<Output = Option<L::Output>> {
    let mut has_begun = false;
    poll_fn(move |context| {
        // Polled before the loop, whose body may use up tokio's budget for one poll of a task.
        let is_aborted = aborted.as_mut().poll(context).is_ready();
        if is_aborted && !has_begun {
            return Poll::Ready(None);
        }
        has_begun = true;
        match looped.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if is_aborted => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
}

/// Polls the future once, with the task's own waker, and returns true if it has completed. Don't poll a completed
/// future again.
pub(crate) fn is_cancelled(
    mut cancelled: Pin<&mut (impl Future + ?Sized)>,
) -> impl Future<Output = bool> {
    poll_fn(move |context| Poll::Ready(cancelled.as_mut().poll(context).is_ready()))
}
