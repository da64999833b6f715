use std::error::Error;
use std::sync::Arc;
use std::{io, iter};

/// More sources than any error has that was made with care. One that names itself as its source has no last one.
const DEEPEST: usize = 100;

/// The error and its sources, none left out: `source` of an `io::Error` skips the error that it wraps, and
/// that of a shared error itself.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| {
        if let Some(wrapped) = cause.downcast_ref().and_then(io::Error::get_ref) {
            return Some(wrapped);
        }
        if let Some(shared) = cause.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
            return Some(&**shared);
        }
        if let Some(shared) = cause.downcast_ref::<Arc<dyn Error>>() {
            return Some(&**shared);
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

/// What is only wrapped says nothing by its kind.
pub(crate) fn is_wrapper(io: &io::Error) -> bool {
    io.kind() == io::ErrorKind::Other
}
