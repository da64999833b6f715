use http::{HeaderMap, HeaderName, Response, StatusCode};

use crate::classify::Classify;
use crate::classify::retry_after::retry_after;
use crate::classify::verdict::Verdict;

const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// 408, 425, 500, 502, 503, 504 and 529 (Anthropic's "overloaded") are transient, 429 is throttled, and all others
/// stop: 501 and 505 say what the server can't do, and the other 4xx say that the request is wrong.
///
/// A status alone has no hint. If you have the headers, classify both.
///
/// ```
/// use http::StatusCode;
/// use retry_runtime::{Classify, Verdict};
///
/// assert_eq!(StatusCode::BAD_GATEWAY.classify(), Verdict::TRANSIENT);
/// assert_eq!(StatusCode::TOO_MANY_REQUESTS.classify(), Verdict::THROTTLED);
/// assert_eq!(StatusCode::NOT_FOUND.classify(), Verdict::STOP);
/// ```
impl Classify for StatusCode {
    fn classify(&self) -> Verdict {
        match self.as_u16() {
            408 | 425 | 500 | 502 | 503 | 504 | 529 => Verdict::TRANSIENT,
            429 => Verdict::THROTTLED,
            _ => Verdict::STOP,
        }
    }
}

/// As [`Verdict::from_http`].
impl Classify for (StatusCode, HeaderMap) {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.0, &self.1)
    }
}

/// As [`Verdict::from_http`].
impl Classify for (StatusCode, &HeaderMap) {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.0, self.1)
    }
}

/// As [`Verdict::from_http`]. The body is not read.
impl<B> Classify for Response<B> {
    fn classify(&self) -> Verdict {
        Verdict::from_http(self.status(), self.headers())
    }
}

impl Verdict {
    /// The verdict on a failed HTTP request that was answered: by the status, unless the header
    /// `x-should-retry` overrules it, and with the hint of [`retry_after`].
    ///
    /// | status | verdict |
    /// |---|---|
    /// | 408, 425, 500, 502, 503, 504, 529 | [`Verdict::TRANSIENT`] |
    /// | 429 | [`Verdict::THROTTLED`] |
    /// | any other | [`Verdict::STOP`] |
    ///
    /// `x-should-retry: true` makes any other status transient, `x-should-retry: false` ends the call whatever the
    /// status, and other values are ignored, as in the `openai` and `anthropic` SDKs. No status is ambiguous. A
    /// gateway's 502 or 504 can hide a request that took effect: if that matters, add [`ambiguous`](Self::ambiguous).
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
        let by_status = status.classify();
        let verdict = match should_retry(headers) {
            Some(false) => Self::STOP,
            Some(true) if !by_status.is_retryable() => Self::TRANSIENT,
            _ => by_status,
        };
        match retry_after(headers) {
            Some(hint) if verdict.is_retryable() => verdict.after(hint),
            _ => verdict,
        }
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
