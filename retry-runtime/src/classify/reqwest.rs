use std::error::Error;
use std::io;
use std::iter;

use crate::{Classify, Verdict};

macro_rules! classify_errors_of {
    ($reqwest:ident) => {
        /// | failure | verdict |
        /// |---|---|
        /// | no connection (DNS and a connect timeout included) | transient: nothing was sent |
        /// | timeout, also in the middle of the body | [`Verdict::TIMEOUT`] |
        /// | the connection closed, reset or canceled before the end of the answer | transient, ambiguous |
        /// | a status, from `error_for_status` | that of the [`StatusCode`](http::StatusCode) |
        /// | an invalid request, too many redirects, a malformed answer or body | stop |
        ///
        /// An error of a status does not have the response's headers. Where a server sends `Retry-After`,
        /// look at the response instead: [`Verdict::from_http`].
        ///
        /// ```
        #[doc = concat!("use ", stringify!($reqwest), " as reqwest;")]
        /// use retry_runtime::{Classify, Verdict};
        ///
        /// let error = reqwest::Client::new().get("no address").build().unwrap_err();
        /// assert_eq!(error.classify(), Verdict::STOP);
        /// ```
        impl Classify for $reqwest::Error {
            fn classify(&self) -> Verdict {
                if let Some(status) = self.status() {
                    return status.classify();
                }
                if self.is_builder() || self.is_redirect() {
                    return Verdict::STOP;
                }
                // Before timeouts: while a connection was being made, no request was sent.
                if self.is_connect() {
                    return Verdict::TRANSIENT;
                }
                if self.is_timeout() {
                    return Verdict::TIMEOUT;
                }
                by_causes(self)
            }
        }
    };
}

#[cfg(feature = "reqwest_0_12")]
classify_errors_of!(reqwest_0_12);
#[cfg(feature = "reqwest_0_13")]
classify_errors_of!(reqwest_0_13);

/// Tells a broken connection from what never heals. `reqwest` itself does not: a truncated body and
/// malformed JSON are both errors of decoding, a closed connection and a malformed answer both of sending.
fn by_causes(error: &(dyn Error + 'static)) -> Verdict {
    let mut verdict = Verdict::STOP;
    for cause in causes(error) {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_user() {
                return Verdict::STOP;
            }
            verdict = Verdict::TRANSIENT.ambiguous();
        } else if let Some(io) = cause.downcast_ref::<io::Error>()
            // What is only wrapped says nothing by its kind.
            && io.kind() != io::ErrorKind::Other
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

/// The error and its sources, none left out: `source` of an `io::Error` skips the error that it wraps.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| {
        let wrapped = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_connection_is_found_inside_a_wrapper() {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let expected = Verdict::TRANSIENT.ambiguous();
        assert_eq!(by_causes(&broken()), expected);
        assert_eq!(by_causes(&io::Error::other(broken())), expected);
        assert_eq!(by_causes(&io::Error::other("text")), Verdict::STOP);
    }

    #[test]
    fn the_outer_kind_decides_where_it_says_something() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        let garbled = io::Error::new(io::ErrorKind::InvalidData, broken);
        assert_eq!(by_causes(&garbled), Verdict::STOP);
    }
}
