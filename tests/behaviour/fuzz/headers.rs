//! Hints in servers' headers.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use retry_runtime::{ResponseError, retry_after};
use support::prelude::*;

use super::{fuzz, texts};

const PIECES: &str = "retry-after|retry-after-ms|x-should-retry|x-amz-retry-after|\
    x-ratelimit-remaining-requests|anthropic-ratelimit-tokens-remaining|: |\n| |,|-|.|1e308|\
    inf|NaN|GMT|06 Nov 9999|1|0|ms|true|false";

/// The lines that are headers.
fn headers(text: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let value = HeaderValue::from_bytes(value.trim().as_bytes());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

#[test]
fn hints_in_headers() {
    let texts = texts(include_str!("corpus/headers.txt"), PIECES);
    fuzz((texts, 100..1000_u16), |(text, status)| {
        let headers = headers(&text);
        let status = StatusCode::from_u16(status).unwrap();
        if let Some(hint) = retry_after(&headers) {
            // Small enough to add it to a clock and a pause.
            prop_assert!(hint < Duration::from_secs(u64::MAX / 4), "{}", text);
        }
        let verdict = Verdict::from_http(status, &headers);
        prop_assert!(verdict.is_retryable() || verdict.kind().is_none());
        let error = ResponseError::new(status, headers, "");
        error.classify();
        prop_assert!(!error.to_string().is_empty());
        let headers = self::headers(&text);
        let limiter = RateLimiter::quota(60, 60_000);
        limiter.learn(|name| headers.get(name)?.to_str().ok());
        prop_assert!((0.0..=1000.0).contains(&limiter.available()), "{}", text);
        Ok(())
    });
}
