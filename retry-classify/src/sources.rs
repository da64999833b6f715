use alloc::boxed::Box;
use alloc::sync::Arc;
use core::error::Error;
use core::iter;
#[cfg(feature = "std")]
use std::io;

/// The maximum number of errors that are searched, more than any sensible error contains. The limit ends the search if
/// an error is its own source.
const MAX_CAUSES: usize = 100;

/// The error and all its sources. Includes those that `source` skips: the error inside an `io::Error`, a shared error,
/// and the error inside a `reqwest-middleware` error.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| {
        #[cfg(feature = "std")]
        if let Some(wrapped) = cause.downcast_ref().and_then(io::Error::get_ref) {
            return Some(wrapped);
        }
        if let Some(shared) = cause.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
            return Some(&**shared);
        }
        if let Some(shared) = cause.downcast_ref::<Arc<dyn Error>>() {
            return Some(&**shared);
        }
        #[cfg(feature = "reqwest_middleware_0_5")]
        if let Some(error) = cause.downcast_ref::<reqwest_middleware::Error>() {
            return Some(inner_error(error));
        }
        cause.source()
    })
    .take(MAX_CAUSES)
}

/// Returns the cause if it is a `T`, or a `T` in a `Box` (to keep an enum small) or an `Arc` (to make it `Clone`).
pub(crate) fn downcast<'a, T: Error + 'static>(cause: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let boxed = || cause.downcast_ref::<Box<T>>().map(|boxed| &**boxed);
    let shared = || cause.downcast_ref::<Arc<T>>().map(|shared| &**shared);
    cause.downcast_ref().or_else(boxed).or_else(shared)
}

/// The inner error of a `reqwest-middleware` error, which its `source` skips.
#[cfg(feature = "reqwest_middleware_0_5")]
pub(crate) fn inner_error(error: &reqwest_middleware::Error) -> &(dyn Error + 'static) {
    match error {
        reqwest_middleware::Error::Reqwest(error) => error,
        reqwest_middleware::Error::Middleware(error) => error.as_ref(),
    }
}

/// Returns true if the error only wraps another error, so that its own kind has no meaning.
#[cfg(feature = "std")]
pub(crate) fn is_wrapper(io: &io::Error) -> bool {
    io.kind() == io::ErrorKind::Other
}
