use alloc::boxed::Box;
use alloc::sync::Arc;
use core::error::Error;
use core::iter;
#[cfg(feature = "std")]
use std::io;

use crate::{Classify, Verdict};

/// More sources than any sensible error has. An error that names itself as its source would never end.
const DEEPEST: usize = 100;

/// The error and all its sources, none left out: `source` on an `io::Error` skips the error it wraps, and so does `source` on
/// a shared error and on that of `reqwest-middleware`.
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
            return Some(within(error));
        }
        cause.source()
    })
    .take(DEEPEST)
}

/// The cause as that type. It may be boxed or shared: enums do so to stay small or to be `Clone`.
pub(crate) fn is<'a, T: Error + 'static>(cause: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let boxed = || cause.downcast_ref::<Box<T>>().map(|boxed| &**boxed);
    let shared = || cause.downcast_ref::<Arc<T>>().map(|shared| &**shared);
    cause.downcast_ref().or_else(boxed).or_else(shared)
}

/// What the cause says, if it is of that type.
pub(crate) fn of<T: Classify + Error + 'static>(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    is::<T>(cause).map(Classify::classify)
}

/// The error that one of `reqwest-middleware` is made of, which its `source` skips.
#[cfg(feature = "reqwest_middleware_0_5")]
pub(crate) fn within(error: &reqwest_middleware::Error) -> &(dyn Error + 'static) {
    match error {
        reqwest_middleware::Error::Reqwest(error) => error,
        reqwest_middleware::Error::Middleware(error) => error.as_ref(),
    }
}

/// The kind of an error that only wraps another says nothing.
#[cfg(feature = "std")]
pub(crate) fn is_wrapper(io: &io::Error) -> bool {
    io.kind() == io::ErrorKind::Other
}
