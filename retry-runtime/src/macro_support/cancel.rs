//! The key `cancel`.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;
use core::task::Waker;

use super::{ViaFn, ViaTrait};
use crate::time::cancel::{self, Cancel, CancelFn, IntoCancelled};
use crate::time::pause;

/// What the key `cancel` takes on a blocking function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cancel a blocking call",
    label = "neither a `Cancel` nor a function that returns a `bool`",
    note = "give an `&AtomicBool`, a function as in `|| token.is_cancelled()`, or a type that implements `retry_runtime::Cancel`"
)]
pub trait IntoCancel<Via> {
    type Cancel: Cancel;
    fn into_cancel(self) -> Self::Cancel;
}

impl<C: Cancel> IntoCancel<ViaTrait> for C {
    type Cancel = C;
    fn into_cancel(self) -> C {
        self
    }
}

impl<F: Fn() -> bool> IntoCancel<ViaFn> for F {
    type Cancel = CancelFn<F>;
    fn into_cancel(self) -> CancelFn<F> {
        CancelFn::new(self)
    }
}

/// On the heap, since it outlives the block that a failure is decided in: only a failure pays for it.
// Opaque, so that a complaint about the bound is the only one.
pub fn cancelled<C: IntoCancelled>(cancel: C) -> Pin<Box<impl Future<Output = ()>>> {
    Box::pin(cancel.into_cancelled())
}

pub fn is_cancelled<F: Future>(cancelled: &mut Pin<Box<F>>, waker: &Waker) -> bool {
    cancel::is_cancelled(cancelled.as_mut(), waker)
}

/// Whether a cancellation has come, which may be asked more than once: it is remembered.
pub fn has_come<F: Future>(came: &mut bool, cancelled: &mut Pin<Box<F>>, waker: &Waker) -> bool {
    *came = *came || is_cancelled(cancelled, waker);
    *came
}

/// The pause that `sleep` is, cut short where it is cancelled: then true.
pub async fn pause_or_cancelled<F: Future>(
    mut cancelled: Pin<Box<F>>,
    sleep: Pin<&mut impl Future>,
) -> bool {
    pause::pause_or_cancelled(cancelled.as_mut(), sleep).await
}
