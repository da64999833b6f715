use core::fmt;
use core::time::Duration;

use http::{HeaderMap, HeaderName, Response, StatusCode};

use crate::classify::Classify;
use crate::classify::kind::Kind;
use crate::classify::reset::reset;
use crate::classify::retry_after::retry_after;
use crate::classify::verdict::Verdict;

const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// As [`Verdict::from_http`] without headers: 425 is transient; 408, 500, 502, 503, 504 and 529 (Anthropic's "overloaded")
/// are transient and ambiguous; 429 is throttled. All others stop: 501 and 505 say what the server can't do, and the other
/// 4xx say that the request is wrong.
///
/// A status alone has no hint, and a 503 without a hint does not say that the request was refused unread. If you have the
/// headers, classify both.
///
/// ```
/// use http::StatusCode;
/// use retry_runtime::{Classify, Verdict};
///
/// assert_eq!(StatusCode::BAD_GATEWAY.classify(), Verdict::TRANSIENT.ambiguous());
/// assert_eq!(StatusCode::TOO_MANY_REQUESTS.classify(), Verdict::THROTTLED);
/// assert_eq!(StatusCode::NOT_FOUND.classify(), Verdict::STOP);
/// ```
impl Classify for StatusCode {
    fn classify(&self) -> Verdict {
        Verdict::of_answer(*self, by_status(*self), None)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn by_status(status: StatusCode) -> Verdict {
    match status.as_u16() {
        408 | 425 | 500 | 502 | 503 | 504 | 529 => Verdict::TRANSIENT,
        429 => Verdict::THROTTLED,
        _ => Verdict::STOP,
    }
}

/// As [`Verdict::from_http`].
impl Classify for (StatusCode, HeaderMap) {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.0, &self.1)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

/// As [`Verdict::from_http`].
impl Classify for (StatusCode, &HeaderMap) {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.0, self.1)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

/// As [`Verdict::from_http`]. The body is not read.
impl<B> Classify for Response<B> {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.status(), self.headers())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status().describe(f)
    }
}

impl Verdict {
    /// The verdict on a failed HTTP request that was answered: by the status, unless the header
    /// `x-should-retry` overrules it, and with the hint of [`retry_after`].
    ///
    /// | status | verdict | may it have taken effect? | source |
    /// |---|---|---|---|
    /// | 429 | [`THROTTLED`](Self::THROTTLED) | no: refused without reading | RFC 6585, 4 |
    /// | 503 with a hint | [`TRANSIENT`](Self::TRANSIENT) | no: refused without reading | RFC 9110, 15.6.4 |
    /// | 503 without a hint | [`TRANSIENT`](Self::TRANSIENT) | yes: gateways also send it for a broken connection | Envoy, response flag `UC` |
    /// | 425 | [`TRANSIENT`](Self::TRANSIENT) | no: the server declined to process it | RFC 8470, 5.2 |
    /// | 408 | [`TRANSIENT`](Self::TRANSIENT) | yes: part of the request had arrived | RFC 9110, 15.5.9 |
    /// | 500 | [`TRANSIENT`](Self::TRANSIENT) | yes: it may have failed halfway | RFC 9110, 15.6.1 |
    /// | 502, 504 | [`TRANSIENT`](Self::TRANSIENT) | yes: the server behind the gateway may have answered late | RFC 9110, 15.6.3, 15.6.5 |
    /// | 529 | [`TRANSIENT`](Self::TRANSIENT) | yes: the server only says that it is overloaded | Anthropic API, "Errors" |
    /// | any other | [`STOP`](Self::STOP) | | |
    ///
    /// "Yes" is [`ambiguous`](Self::ambiguous): no retry if `idempotent = false` (RFC 9110, 9.2.2).
    ///
    /// `x-should-retry: true` makes any other status transient, `x-should-retry: false` ends the call whatever the
    /// status, and other values are ignored, as in the `openai` and `anthropic` SDKs. The header does not say what became
    /// of the request: any other 4xx was refused, and any other status is ambiguous.
    ///
    /// If a 429 names no wait, the hint comes from the limits in its headers: the longest wait until a limit that is
    /// used up is reset.
    ///
    /// | what is left | when it is reset | sent by |
    /// |---|---|---|
    /// | `x-ratelimit-remaining-requests`, `-tokens` | `x-ratelimit-reset-…`: `6m0s` | OpenAI and its imitators |
    /// | `anthropic-ratelimit-requests-remaining`, `-tokens-`, `-input-tokens-`, `-output-tokens-` | `…-reset`: a time of RFC 3339 | Anthropic |
    /// | `ratelimit-remaining` | `ratelimit-reset`: seconds | draft-ietf-httpapi-ratelimit-headers-06 |
    ///
    /// With clients that keep the response's headers, such as `reqwest`, pass both; the clients' own errors often have
    /// only the status.
    ///
    /// ```
    /// use std::time::Duration;
    /// use http::{HeaderMap, StatusCode};
    /// use retry_runtime::Verdict;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("retry-after", "2".parse()?);
    /// let throttled = Verdict::from_http(StatusCode::TOO_MANY_REQUESTS, &headers);
    /// assert_eq!(throttled, Verdict::THROTTLED.after(Duration::from_secs(2)));
    ///
    /// headers.insert("x-should-retry", "false".parse()?);
    /// let stopped = Verdict::from_http(StatusCode::TOO_MANY_REQUESTS, &headers);
    /// assert_eq!(stopped, Verdict::STOP);
    /// # Ok::<_, http::header::InvalidHeaderValue>(())
    /// ```
    pub fn from_http(status: StatusCode, headers: &HeaderMap) -> Self {
        let by_status = by_status(status);
        let verdict = match should_retry(headers) {
            Some(false) => Self::STOP,
            Some(true) if !by_status.is_retryable() => Self::TRANSIENT,
            _ => by_status,
        };
        let hint = retry_after(headers).or_else(|| reset_if_throttled(verdict, headers));
        Self::of_answer(status, verdict, hint)
    }

    /// That verdict on an answer of that status, with the hint that came with it, and with what the server may have done.
    pub(crate) fn of_answer(status: StatusCode, verdict: Self, hint: Option<Duration>) -> Self {
        let Some(kind) = verdict.kind() else {
            return verdict;
        };
        let is_refusal = kind == Kind::Throttled || is_refused(status, hint);
        let verdict = match hint {
            Some(hint) => verdict.after(hint),
            None => verdict,
        };
        if is_refusal {
            verdict
        } else {
            verdict.ambiguous()
        }
    }
}

/// The wait until a throttling server's limits are reset, if it does not name the wait itself.
pub(crate) fn reset_if_throttled(verdict: Verdict, headers: &HeaderMap) -> Option<Duration> {
    let is_throttled = verdict.kind() == Some(Kind::Throttled);
    is_throttled.then(|| reset(headers)).flatten()
}

/// Whether the server turned the request away, and so did nothing of it.
fn is_refused(status: StatusCode, hint: Option<Duration>) -> bool {
    match status {
        StatusCode::REQUEST_TIMEOUT => false,
        StatusCode::SERVICE_UNAVAILABLE => hint.is_some(),
        status => status.is_client_error(),
    }
}

pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    let value = headers.get(X_SHOULD_RETRY)?.to_str().ok()?.trim();
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}
