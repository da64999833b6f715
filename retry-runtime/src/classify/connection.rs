use std::error::Error;
use std::io;

use super::causes::{causes, is_wrapper};
use crate::{Classify, Verdict};

/// The verdict on a failure of a request that may have been sent.
///
/// Tells a broken connection from what never heals, where a client does not: a truncated body and malformed JSON can
/// both be errors of decoding, a closed connection and a malformed answer both of sending.
pub(crate) fn of_open_connection(error: &(dyn Error + 'static)) -> Verdict {
    let mut verdict = Verdict::STOP;
    for cause in causes(error) {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_user() {
                return Verdict::STOP;
            }
            verdict = Verdict::TRANSIENT.ambiguous();
        } else if let Some(io) = cause.downcast_ref::<io::Error>()
            && !is_wrapper(io)
        {
            let of_kind = io.classify();
            return if of_kind.is_retryable() {
                of_kind.ambiguous()
            } else {
                Verdict::STOP
            };
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_connection_is_found_inside_a_wrapper() {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let expected = Verdict::TRANSIENT.ambiguous();
        assert_eq!(of_open_connection(&broken()), expected);
        assert_eq!(of_open_connection(&io::Error::other(broken())), expected);
        assert_eq!(of_open_connection(&io::Error::other("text")), Verdict::STOP);
    }

    #[test]
    fn the_outer_kind_decides_where_it_says_something() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        let garbled = io::Error::new(io::ErrorKind::InvalidData, broken);
        assert_eq!(of_open_connection(&garbled), Verdict::STOP);
    }
}
