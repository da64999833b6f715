//! Servers' responses: hints in headers, errors of model APIs in bodies and in event streams, and waits in texts.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use retry_runtime::llm::{ProviderError, wait_in};
use retry_runtime::{ResponseError, retry_after};
use support::prelude::*;

use super::{fuzz, texts};

const HEADERS: &str = "retry-after|retry-after-ms|x-should-retry|x-amz-retry-after|\
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
    let texts = texts(include_str!("corpus/headers.txt"), HEADERS);
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

const ERRORS: &str = "{|}|[|]|\"|:|,|\\|\n|\n\n|data:|event: error|event:|\"error\":|\"code\":|\"details\":|\
    \"message\":|\"retryDelay\":\"9e99s\"|null|true|1e999|-1|429|\u{feff}|[[[[[[[[|\
    {\"error\":{\"error\":";

#[test]
fn bodies_and_events() {
    let texts = texts(include_str!("corpus/model_errors.txt"), ERRORS);
    fuzz((texts, 100..1000_u16), |(text, status)| {
        if let Some(error) = ProviderError::parse(&text) {
            error.classify();
            prop_assert_eq!(ProviderError::parse(&text), Some(error), "{}", text);
        }
        let status = StatusCode::from_u16(status).unwrap();
        ResponseError::new(status, HeaderMap::new(), text).classify();
        Ok(())
    });
}

#[test]
fn texts_cut_off_anywhere() {
    let texts = texts(include_str!("corpus/model_errors.txt"), ERRORS);
    fuzz((texts, any::<prop::sample::Index>()), |(text, end)| {
        let end = text.floor_char_boundary(end.index(text.len() + 1));
        if let Some(error) = ProviderError::parse(&text[..end]) {
            error.classify();
        }
        Ok(())
    });
}

const WAITS: &str = "retry after |try again in |Retry-After: |do not |don\u{2019}t |never |please |for |\
    about |a minute| seconds|ms|1h30m| ago|%|/|,|.|\"|1,500|404|2026-01-01";

#[test]
fn waits_in_texts() {
    let texts = texts(include_str!("corpus/waits.txt"), WAITS);
    fuzz(texts, |text| {
        let wait = wait_in(&text);
        prop_assert!(wait <= Some(Duration::from_hours(365 * 24)), "{}", text);
        // Neither upper case nor a prefix changes the wait.
        prop_assert_eq!(wait_in(&text.to_ascii_uppercase()), wait, "{}", text);
        prop_assert_eq!(wait_in(&format!("429: {text}")), wait, "{}", text);
        Ok(())
    });
}
