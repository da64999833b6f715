use ::ureq::{Error, Timeout};
use http::StatusCode;

use crate::verdict::LostBy;
use crate::{Classify, Verdict};

/// | failure | verdict |
/// |---|---|
/// | a status | the same as for the [`StatusCode`]; ureq keeps no headers, so there is no hint |
/// | unknown host, no connection; a timeout while looking up the host or connecting | transient: nothing was sent |
/// | any other timeout | [`Verdict::TIMEOUT`] |
/// | I/O | the same as for the [`std::io::Error`] |
/// | an invalid request, redirects, a malformed response, TLS | stop |
///
/// To keep `Retry-After` and billing codes, turn off ureq's errors for statuses (`http_status_as_error(false)`), and
/// create a [`ResponseError`](crate::ResponseError) from each response that is not a success. If a call fails with a
/// 429 as a ureq error, the log contains a warning once per call name.
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::StatusCode(code) => {
                let verdict = StatusCode::from_u16(*code).map(|status| status.classify());
                verdict.map_or(Verdict::STOP, |of| of.without_headers(LostBy::Ureq))
            }
            Self::HostNotFound
            | Self::ConnectionFailed
            | Self::Timeout(Timeout::Resolve | Timeout::Connect) => Verdict::TRANSIENT,
            Self::Timeout(_) => Verdict::TIMEOUT,
            Self::Io(io) => io.classify(),
            _ => Verdict::STOP,
        }
    }

    describe_with_causes!();
}
