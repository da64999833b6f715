use core::error::Error as _;

use hyper_util::client::legacy::Error;

use super::connection::{connect_verdict, request_verdict};
use crate::{Classify, Verdict};

/// | failure | verdict |
/// |---|---|
/// | no connection (including DNS failures and connect timeouts) | transient: nothing was sent |
/// | the connection closed, reset or canceled before the response | transient, ambiguous |
/// | an invalid request or address, an untrusted certificate, a malformed response | stop |
///
/// For a response's status, use [`ResponseError`](crate::ResponseError) or [`Verdict::from_http`].
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        if self.is_connect() {
            return connect_verdict(self);
        }
        // An error without a source was raised by the client itself.
        self.source().map_or(Verdict::STOP, request_verdict)
    }

    describe_with_causes!();
}

/// Classifies an error that occurs while a response's body is read: a closed or reset connection is transient and
/// ambiguous, and a malformed body stops.
#[diagnostic::do_not_recommend]
impl Classify for hyper::Error {
    fn classify(&self) -> Verdict {
        request_verdict(self)
    }

    describe_with_causes!();
}
