use core::error::Error;
use core::time::Duration;

use ::tonic::{Code, ConnectError, Status};
use tonic_types::StatusExt;

use super::connection::{request_verdict, reset_verdict};
use crate::sources::causes;
use crate::status::by_status;
use crate::text::fault::Fault;
use crate::text::rules::{lookup, refine};
use crate::text::table::RuleFor;
use crate::text::wait::{duration, wait_in};
use crate::verdict::LONGEST_HINT;
use crate::{Classify, Verdict};

/// The metadata key with which a server asks for a wait (gRFC A6).
const PUSHBACK: &str = "grpc-retry-pushback-ms";
/// tonic's message for its own timeouts, on the client and on the server.
const TIMED_OUT: &str = "Timeout expired";
/// Texts that precede the HTTP status of a response without a gRPC status. The first is from tonic, grpc-go and
/// grpc-java, the second from gRPC in C++.
const HTTP_STATUS: [&str; 2] = ["HTTP status code", "http2 header with status"];

/// | status | verdict |
/// |---|---|
/// | `Unavailable` because connecting failed, or HTTP/2 refused the stream | transient: nothing was done |
/// | any other `Unavailable` | transient, ambiguous: the server may have seen the request (gRPC, "Status codes") |
/// | `ResourceExhausted` because of HTTP/2's `ENHANCE_YOUR_CALM` | throttled, ambiguous |
/// | any other `ResourceExhausted`, unless its text, `QuotaFailure` or `ErrorInfo` names a day, a month, money or a message's size | throttled: refused |
/// | `DeadlineExceeded`; `Cancelled` by tonic's own timeout | [`Verdict::TIMEOUT`] |
/// | any other status that tonic created for a broken connection, or `Internal` or `Unknown` whose text reports one | transient, ambiguous |
/// | `Internal` or `Unknown` for a response without a gRPC status | as for its HTTP status |
/// | `Aborted` | stop, except under [`on::transaction`](crate::on::transaction): it was rolled back |
/// | everything else | stop |
///
/// The hint comes from the metadata `grpc-retry-pushback-ms` (gRFC A6), or else from `RetryInfo` in the details, or,
/// for `ResourceExhausted`, from the message ("Please retry in 34s"). A pushback that is negative or doesn't parse
/// stops the call, regardless of the status.
#[diagnostic::do_not_recommend]
impl Classify for Status {
    fn classify(&self) -> Verdict {
        with_pushback(self, code_verdict(self))
    }

    describe_with_causes!();
}

/// | failure | verdict |
/// |---|---|
/// | connecting failed | transient: nothing was sent; a bad certificate stops |
/// | a connection broke | transient, ambiguous |
/// | the channel's or the request's own timeout | [`Verdict::TIMEOUT`] |
/// | a wrong address or setting | stop |
#[cfg(feature = "tonic_transport_0_14")]
#[diagnostic::do_not_recommend]
impl Classify for ::tonic::transport::Error {
    fn classify(&self) -> Verdict {
        match self.source() {
            Some(source) if is_connect_error(source) => super::connection::connect_verdict(source),
            Some(source) => request_verdict(source),
            None => Verdict::STOP,
        }
    }

    describe_with_causes!();
}

/// The verdict if the retried function is a whole transaction.
pub(crate) fn classify_transaction(status: &Status) -> Verdict {
    match status.code() {
        Code::Aborted => with_pushback(status, Verdict::TRANSIENT.with_hint(retry_info(status))),
        _ => status.classify(),
    }
}

fn code_verdict(status: &Status) -> Verdict {
    match status.code() {
        Code::Unavailable => unavailable_verdict(status).with_hint(retry_info(status)),
        // tonic also uses this code for some HTTP/2 resets. Those statuses have a source.
        Code::ResourceExhausted => match status.source().and_then(reset_verdict) {
            Some(verdict) => verdict,
            None => exhausted_verdict(status),
        },
        Code::DeadlineExceeded => Verdict::TIMEOUT,
        Code::Cancelled if status.message() == TIMED_OUT => Verdict::TIMEOUT,
        // A status sent by a server has no source.
        Code::Cancelled | Code::Internal | Code::Unknown => match status.source() {
            Some(source) => request_verdict(source),
            None => text_verdict(status),
        },
        _ => Verdict::STOP,
    }
}

/// The verdict on a status sent by a server or a gateway. The status may quote an error about a broken connection
/// behind the sender, or report a response without a gRPC status.
fn text_verdict(status: &Status) -> Verdict {
    let text = status.message();
    let is_broken = match status.code() {
        Code::Internal => refine(Fault::Unknown, false, text) == Fault::Internal,
        _ => lookup(RuleFor::Whole, [text]).is_some(),
    };
    let by_http = || {
        http_verdict(
            HTTP_STATUS
                .iter()
                .find_map(|before| text.split_once(before))?
                .1,
        )
    };
    by_http().unwrap_or_else(|| is_broken.into())
}

/// The verdict on the HTTP status that is the first number in the text.
fn http_verdict(text: &str) -> Option<Verdict> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    let status = numbers.find_map(|number| number.parse().ok())?;
    let verdict = by_status(status);
    let may_have_effect = verdict.is_retryable() && (status == 408 || status >= 500);
    Some(verdict.ambiguous_if(may_have_effect))
}

fn is_connect_error(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(<dyn Error>::is::<ConnectError>)
}

fn unavailable_verdict(status: &Status) -> Verdict {
    let is_refused = |source| reset_verdict(source) == Some(Verdict::TRANSIENT);
    let did_nothing = |source| is_connect_error(source) || is_refused(source);
    Verdict::TRANSIENT.ambiguous_if(!status.source().is_some_and(did_nothing))
}

fn with_pushback(status: &Status, verdict: Verdict) -> Verdict {
    let Some(value) = status.metadata().get(PUSHBACK) else {
        return verdict;
    };
    let milliseconds = value.to_str().ok().and_then(|text| text.parse().ok());
    let wait = milliseconds.map(Duration::from_millis);
    match wait.filter(|wait| *wait <= LONGEST_HINT) {
        Some(wait) if verdict.is_retryable() => verdict.after(wait),
        Some(_) => verdict,
        // By gRFC A6, a value that is negative or can't be read forbids a retry.
        None => Verdict::STOP,
    }
}

/// The wait in `RetryInfo`, or else the time until the quota reset in `ErrorInfo`. `None` if longer than a year.
fn retry_info(status: &Status) -> Option<Duration> {
    let in_info = status
        .get_details_retry_info()
        .and_then(|info| info.retry_delay);
    let until_reset = || {
        duration(
            status
                .get_details_error_info()?
                .metadata
                .get("quotaResetDelay")?,
        )
    };
    let wait = in_info.or_else(until_reset);
    wait.filter(|wait| *wait <= LONGEST_HINT)
}

/// Throttled, unless the message or the details report a daily or monthly quota, a missing payment or an oversized
/// message.
fn exhausted_verdict(status: &Status) -> Verdict {
    let details = status.get_error_details();
    let metadata = details
        .error_info()
        .into_iter()
        .flat_map(|info| &info.metadata);
    let of_info = metadata.filter_map(|(key, value)| match key.as_str() {
        "quota_limit" => Some(value.clone()),
        "quota_limit_value" => Some(format!("limit: {value}")),
        _ => None,
    });
    let failures = details.quota_failure().into_iter();
    let of_quotas = failures
        .flat_map(|failure| &failure.violations)
        .flat_map(|quota| {
            [
                &quota.quota_id,
                &quota.quota_metric,
                &quota.subject,
                &quota.description,
            ]
        });
    let mut texts = of_quotas
        .cloned()
        .chain(of_info)
        .chain([status.message().to_owned()]);
    if texts.any(|text| refine(Fault::Throttled, false, &text) != Fault::Throttled) {
        return Verdict::STOP;
    }
    Verdict::THROTTLED.with_hint(retry_info(status).or_else(|| wait_in(status.message())))
}
