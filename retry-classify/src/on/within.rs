use alloc::boxed::Box;
use alloc::sync::Arc;
use core::error::Error;

use crate::{Classify, Verdict, sources};

/// Classifies the first error of type `T` inside a `Box<dyn Error>` or an `anyhow::Error`: searches the error and then
/// its sources for a `T`, even in a `Box` or `Arc`. If no `T` is found, the call stops.
///
/// At run time, a program can't check which types implement [`Classify`], so [`cause`](super::cause) finds only the
/// types that it lists. Name your own type:
///
/// ```
/// use retry_runtime::{Classify, on, retry};
///
/// #[derive(Debug, Classify, thiserror::Error)]
/// #[error("the model is busy")]
/// #[classify(transient)]
/// struct Busy;
///
/// #[retry(max = 2, backoff = "none", on = on::is::<Busy>)]
/// fn complete(attempts: &mut u32) -> Result<(), Box<dyn std::error::Error>> {
///     *attempts += 1;
///     Err(Busy.into())
/// }
///
/// let mut attempts = 0;
/// assert!(complete(&mut attempts).is_err());
/// assert_eq!(attempts, 3);
/// ```
///
/// To combine several types with each other and with the listed ones, use [`Combine`](super::Combine):
///
/// ```
/// use retry_runtime::on::{self, Combine};
/// # use retry_runtime::{Classify, Policy};
/// #
/// # #[derive(Debug, Classify, thiserror::Error)]
/// # #[error("the model is busy")]
/// # #[classify(transient)]
/// # struct Busy;
/// # #[derive(Debug, Classify, thiserror::Error)]
/// # #[error("too many requests")]
/// # #[classify(throttled)]
/// # struct Throttled;
///
/// let on = on::cause.or(on::is::<Busy>).or(on::is::<Throttled>);
/// # let mut attempts = 0;
/// # let _ = Policy::none().max(2).on(on).call_blocking(|| {
/// #     attempts += 1;
/// #     Err::<(), Box<dyn std::error::Error>>(Throttled.into())
/// # });
/// # assert_eq!(attempts, 3);
/// ```
///
/// If your own error type wraps a type-erased error, derive [`Classify`] with `#[classify(transparent)]`.
pub fn is<T: Classify + Error + 'static>(error: &(impl Chain + ?Sized)) -> Verdict {
    let mut causes = sources::causes(error.outermost());
    let found = causes.find_map(sources::downcast::<T>);
    found.map_or(Verdict::STOP, Classify::classify)
}

/// Type-erased errors, which can contain an error of any type. [`is`] accepts them.
///
/// Implemented for `dyn Error`, `anyhow::Error` (with its feature) and [`std::io::Error`], even in a `Box` or `Arc`.
#[diagnostic::on_unimplemented(
    message = "`on::is` inspects `Box<dyn Error>` and `anyhow::Error`, not `{Self}`",
    label = "not a type-erased error",
    note = "put `#[derive(retry_runtime::Classify)]` on `{Self}`, with `#[classify(transparent)]` on a variant that contains a type-erased error, or use a function of your own with `on = …`"
)]
pub trait Chain {
    #[doc(hidden)]
    fn outermost(&self) -> &(dyn Error + 'static);
}

macro_rules! chain {
    ($([$($generics:tt)*] $error:ty: |$this:ident| $outermost:expr;)*) => {$(
        impl<$($generics)*> Chain for $error {
            fn outermost(&self) -> &(dyn Error + 'static) {
                let $this = self;
                $outermost
            }
        }
    )*};
}

chain! {
    [] dyn Error: |this| this;
    [] dyn Error + Send: |this| this;
    [] dyn Error + Sync: |this| this;
    [] dyn Error + Send + Sync: |this| this;
    [E: Chain + ?Sized] Box<E>: |this| (**this).outermost();
    [E: Chain + ?Sized] Arc<E>: |this| (**this).outermost();
}
#[cfg(feature = "std")]
chain!([] std::io::Error: |this| this;);
#[cfg(feature = "anyhow_1")]
chain!([] anyhow::Error: |this| this.as_ref(););
