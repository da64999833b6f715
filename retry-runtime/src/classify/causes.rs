use std::error::Error;
use std::sync::Arc;
use std::{io, iter};

use crate::{Classify, Verdict};

/// The error and its sources, none left out: `source` of an `io::Error` skips the error that it wraps, and
/// that of a shared error itself.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && let Some(wrapped) = io.get_ref()
        {
            return Some(wrapped);
        }
        if let Some(shared) = cause.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
            return Some(&**shared);
        }
        cause.source()
    })
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

/// Tells a broken connection from what never heals, where a client does not: a truncated body and malformed
/// JSON can both be errors of decoding, a closed connection and a malformed answer both of sending.
pub(crate) fn of_connection(error: &(dyn Error + 'static)) -> Verdict {
    #[allow(unused_mut, reason = "changed where hyper is there")]
    let mut verdict = Verdict::STOP;
    for cause in causes(error) {
        #[cfg(any(
            feature = "hyper_util_0_1",
            feature = "reqwest_0_12",
            feature = "reqwest_0_13",
            feature = "tonic_0_14"
        ))]
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_user() {
                return Verdict::STOP;
            }
            verdict = Verdict::TRANSIENT.ambiguous();
        }
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && !is_wrapper(io)
        {
            return io.classify();
        }
    }
    verdict
}

/// As [`of_connection`], where it is known that a connection was made, so that the request may have been sent.
#[cfg(any(
    feature = "hyper_util_0_1",
    feature = "reqwest_0_12",
    feature = "reqwest_0_13",
    feature = "tonic_0_14"
))]
pub(crate) fn of_open_connection(error: &(dyn Error + 'static)) -> Verdict {
    match of_connection(error) {
        verdict if verdict.is_retryable() => verdict.ambiguous(),
        verdict => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_connection_is_found_inside_a_wrapper() {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let expected = Verdict::TRANSIENT.ambiguous();
        assert_eq!(of_connection(&broken()), expected);
        assert_eq!(of_connection(&io::Error::other(broken())), expected);
        assert_eq!(of_connection(&io::Error::other("text")), Verdict::STOP);
    }

    #[test]
    fn the_outer_kind_decides_where_it_says_something() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        let garbled = io::Error::new(io::ErrorKind::InvalidData, broken);
        assert_eq!(of_connection(&garbled), Verdict::STOP);
    }
}
