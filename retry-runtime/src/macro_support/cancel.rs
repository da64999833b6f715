//! The key `cancel`.

use alloc::boxed::Box;
use core::future::{Future, Pending, pending};
use core::pin::Pin;

use super::{ViaFn, ViaTrait};
use crate::time::cancel::{Cancel, CancelFn, IntoCancelled};

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

/// Nothing cancels the wait.
#[inline]
pub fn uncancelled() -> Pin<Box<Pending<()>>> {
    Box::pin(pending())
}
