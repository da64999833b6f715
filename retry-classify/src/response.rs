//! Verdicts on HTTP responses, by status, headers and body.

#[cfg(feature = "llm")]
mod body_error;
mod reset;
pub(crate) mod response_error;
pub(crate) mod retry_after;

use core::borrow::Borrow;
use core::fmt;
use core::time::Duration;

use http::{HeaderMap, Response, StatusCode};

#[cfg(feature = "tracing")]
use crate::error_text::shown::shown;
use crate::response::reset::reset;
use crate::response::retry_after::{retry_after, wait_header};
use crate::status::{by_status, final_verdict, may_recover};
use crate::{Classify, Kind, Verdict};

/// Headers in which a server allows or forbids a retry. The first one with a readable value decides.
const SHOULD_RETRY: [&str; 2] = ["x-should-retry", "stripe-should-retry"];

/// Like [`Verdict::from_http`] without headers: 425 and 449 are transient; 408 and most 5xx are transient and
/// ambiguous; 420 and 429 are throttled. Everything else stops: a few 5xx, such as 501 and 505, mean that the server
/// doesn't support the request, and the other 4xx mean that the request is wrong.
///
/// A status alone has no hint, and a request that gets a 503 without a hint may have taken effect. If you have the
/// headers, classify `(status, headers)`.
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
        Verdict::from_http(*self, &HeaderMap::new())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Like [`Verdict::from_http`].
impl<H: Borrow<HeaderMap>> Classify for (StatusCode, H) {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.0, self.1.borrow())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

/// Like [`Verdict::from_http`]. The body is not read.
impl<B> Classify for Response<B> {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.status(), self.headers())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status().describe(f)
    }
}

impl Verdict {
    /// The verdict on a failed HTTP request that got a response: by the status, unless the header `x-should-retry`
    /// overrides it, with the hint from [`retry_after`].
    ///
    /// | status | verdict | may it have taken effect? | source |
    /// |---|---|---|---|
    /// | 429, 420 | [`THROTTLED`](Self::THROTTLED) | no: refused without reading | RFC 6585, 4; EVE Online, ESI |
    /// | 403 with a hint, readable or not, or with `x-ratelimit-remaining: 0` | [`THROTTLED`](Self::THROTTLED) | no: refused | GitHub, "Rate limits for the REST API" |
    /// | 503 with a hint, readable or not | [`TRANSIENT`](Self::TRANSIENT) | no: refused without reading | RFC 9110, 15.6.4 |
    /// | 503 without a hint | [`TRANSIENT`](Self::TRANSIENT) | yes: gateways also send it for a broken connection | Envoy, response flag `UC` |
    /// | 425 | [`TRANSIENT`](Self::TRANSIENT) | no: the server declined to process it | RFC 8470, 5.2 |
    /// | 449 | [`TRANSIENT`](Self::TRANSIENT) | no: refused | Azure Cosmos DB, "HTTP status codes" |
    /// | 409, 413, 423 or a non-standard 4xx, with a hint, readable or not | [`TRANSIENT`](Self::TRANSIENT) | no: refused | RFC 9110, 10.2.3, 15.5.14 |
    /// | 408 | [`TRANSIENT`](Self::TRANSIENT) | yes: part of the request had arrived | RFC 9110, 15.5.9 |
    /// | 500 | [`TRANSIENT`](Self::TRANSIENT) | yes: it may have failed halfway | RFC 9110, 15.6.1 |
    /// | 502, 504 | [`TRANSIENT`](Self::TRANSIENT) | yes: the server behind the gateway may have answered late | RFC 9110, 15.6.3, 15.6.5 |
    /// | 529 | [`TRANSIENT`](Self::TRANSIENT) | yes: it only means that the server is overloaded | Anthropic API, "Errors" |
    /// | any other 5xx, such as Cloudflare's 520 to 524 | [`TRANSIENT`](Self::TRANSIENT) | yes, as 500 | RFC 9110, 15 |
    /// | 507, 508, 511, 525, 526 | [`TRANSIENT`](Self::TRANSIENT), but [`once`](Self::once): no retry, but breakers count a failure | | full disks, loops, logins, broken certificates |
    /// | 501, 505, 510 | [`STOP`](Self::STOP) | | not supported by the server |
    /// | any other | [`STOP`](Self::STOP) | | |
    ///
    /// "Yes" means [`ambiguous`](Self::ambiguous): no retry if `idempotent = false` (RFC 9110, 9.2.2).
    ///
    /// `x-should-retry: true` makes a status transient that would otherwise stop. `x-should-retry: false` ends the call
    /// regardless of the status; breakers still count a 5xx, except 501, 505 and 510, as a failure, as with
    /// [`once`](Self::once). Other values are ignored, as in the `openai` and `anthropic` SDKs. Stripe's
    /// `stripe-should-retry` has the same effect. The header doesn't show whether the request had an effect, so a 4xx
    /// that would otherwise stop counts as refused, and any other such status as ambiguous.
    ///
    /// If a throttled response contains no wait, the hint comes from the limits in its headers: the longest wait until
    /// an exhausted limit is reset.
    ///
    /// | exhausted | reset time | sent by |
    /// |---|---|---|
    /// | `x-ratelimit-remaining-requests: 0` | `x-ratelimit-reset-requests` | OpenAI and compatible APIs |
    /// | `x-ratelimit-remaining-tokens-minute: 0` | `x-ratelimit-reset-tokens-minute` | Cerebras, also for days |
    /// | `anthropic-ratelimit-input-tokens-remaining: 0` | `anthropic-ratelimit-input-tokens-reset` | Anthropic |
    /// | unless `anthropic-ratelimit-unified-status: allowed` | `anthropic-ratelimit-unified-reset` | Anthropic |
    /// | `ratelimit-remaining: 0` | `ratelimit-reset` | draft-ietf-httpapi-ratelimit-headers-06 |
    /// | `ratelimit: "default";r=0;t=30` | the same header, `t` | draft-ietf-httpapi-ratelimit-headers-10 |
    /// | `x-ratelimit-remaining: 0` | `x-ratelimit-reset` | GitHub |
    /// | `x-ms-user-quota-remaining: 0` | `x-ms-user-quota-resets-after` | Azure Resource Graph |
    ///
    /// Any header whose name contains `remaining` (or EVE Online's `remain`) and `limit` or `quota` is read like these.
    /// The reset time is in the header whose name has `reset`, `resets-after` or `resettime` instead; for Contentful's
    /// `…-second-remaining`, in `…-reset`. If both headers list several limits (`0, 1988` and `1, 1419704`, as Brave's
    /// do), each limit is read separately. The reset time is a duration (`60`, `6m0s`, `00:00:30`) or a point in time
    /// (`2026-03-01T12:00:30Z`, seconds or smaller units since 1970).
    ///
    /// If the client provides a response's headers, as `reqwest` does, pass them with the status: clients' own errors
    /// often have only the status.
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
        let verdict = by_status_and_headers(status, headers);
        Self::for_response(status, headers, verdict, BodyFacts::default())
    }

    /// Adds the wait from the headers, or else from the body, to `verdict`. Marks the verdict ambiguous if the request
    /// may have taken effect.
    pub(crate) fn for_response(
        status: StatusCode,
        headers: &HeaderMap,
        verdict: Self,
        body: BodyFacts,
    ) -> Self {
        if !verdict.is_retryable() {
            return verdict;
        }
        let is_throttled = is_throttled(status, verdict);
        let in_headers = retry_after(headers);
        let asks = wait_header(headers);
        #[cfg(feature = "tracing")]
        if let Some((name, value)) = asks.filter(|_| in_headers.is_none()) {
            tracing::debug!(
                target: "retry::classify",
                header = name,
                value = %shown(&String::from_utf8_lossy(value.as_bytes())),
                "ignored: no wait between zero and 365 days can be read from this header"
            );
        }
        let hint = in_headers
            .or(body.wait)
            .or_else(|| is_throttled.then(|| reset(headers)).flatten());
        let verdict = verdict.with_hint(hint);
        let is_refused = is_throttled && body.is_refused
            || is_refused(status, body.asks_for_wait || asks.is_some());
        verdict.ambiguous_if(!is_refused)
    }
}

/// The facts from a body that the verdict depends on, apart from the fault.
#[derive(Clone, Copy, Default)]
pub(crate) struct BodyFacts {
    pub(crate) wait: Option<Duration>,
    /// True if the server itself asks for the wait, instead of quoting another server.
    pub(crate) asks_for_wait: bool,
    /// True if a throttled request was refused, regardless of the status.
    pub(crate) is_refused: bool,
}

/// The verdict from the status, unless a header overrides it. It has no hint yet.
pub(crate) fn by_status_and_headers(status: StatusCode, headers: &HeaderMap) -> Verdict {
    let by_status = by_status(status.as_u16());
    match should_retry(headers) {
        Some(false) => final_verdict(status.as_u16()),
        _ if is_rate_limit(status, headers) => Verdict::THROTTLED,
        Some(true) if !by_status.is_retryable() => Verdict::TRANSIENT,
        _ if may_recover(status.as_u16()) && wait_header(headers).is_some() => Verdict::TRANSIENT,
        _ => by_status,
    }
}

/// Returns true for a 403 that is a rate limit, as from GitHub: it asks for a wait, or no requests remain.
fn is_rate_limit(status: StatusCode, headers: &HeaderMap) -> bool {
    let left = headers.get("x-ratelimit-remaining");
    let is_used_up = left.is_some_and(|left| left == "0");
    status == StatusCode::FORBIDDEN && (is_used_up || wait_header(headers).is_some())
}

/// Returns true if the request was throttled. A 429 always counts as throttled, regardless of the body.
pub(crate) fn is_throttled(status: StatusCode, verdict: Verdict) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || verdict.kind() == Some(Kind::Throttled)
}

/// Returns true if the server refused the request, so the request had no effect.
fn is_refused(status: StatusCode, names_a_wait: bool) -> bool {
    match status {
        StatusCode::REQUEST_TIMEOUT => false,
        StatusCode::SERVICE_UNAVAILABLE => names_a_wait,
        status => status.is_client_error(),
    }
}

pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    let mut names = SHOULD_RETRY.into_iter();
    names.find_map(|name| {
        let value = headers.get(name)?.to_str().ok()?;
        value.trim().to_ascii_lowercase().parse().ok()
    })
}
