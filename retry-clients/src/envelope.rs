//! What the APIs of language models say in the bodies of their answers.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, Verdict};
use serde_json::Value;

/// The verdict on an answer: by its status and headers, unless its body says that no wait helps.
pub(crate) fn answered(status: StatusCode, headers: &HeaderMap, body: &Value) -> Verdict {
    if is_final(body) {
        return Verdict::STOP;
    }
    let error = error_in(body);
    let verdict = if status.is_success() {
        by_words(error)
    } else {
        Verdict::from_http(status, headers)
    };
    match verdict.hint().or_else(|| retry_delay(error)) {
        Some(hint) if verdict.is_retryable() => verdict.after(hint),
        _ => verdict,
    }
}

/// The verdict on a body alone: of an error inside an answer that began well, or of one whose status was lost.
pub(crate) fn said(body: &Value) -> Verdict {
    answered(StatusCode::OK, &HeaderMap::new(), body)
}

/// A body that is not JSON says nothing.
pub(crate) fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_default()
}

/// The object with `type`, `code` or `status`: under `error`, in a list of one as Google streams it, or the body.
fn error_in(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    let body = body.get("response").unwrap_or(body);
    match body.get("error") {
        Some(error) if error.is_object() => error,
        _ => body,
    }
}

fn words(error: &Value) -> impl Iterator<Item = &str> {
    ["/type", "/code", "/status", "/details/error_code"]
        .into_iter()
        .filter_map(|field| error.pointer(field)?.as_str())
}

/// No wait brings money, and a quota of the day lasts longer than any call.
pub(crate) fn is_final(body: &Value) -> bool {
    let error = error_in(body);
    words(error).any(is_billing) || is_daily(error)
}

fn is_billing(word: &str) -> bool {
    matches!(
        word,
        "insufficient_quota"
            | "credit_balance_exhausted"
            | "enforced_spend_limit_reached"
            | "billing_error"
            | "billing_hard_limit_reached"
    ) || word.ends_with("_spend_limit_exceeded")
        || word.ends_with("_usage_limit_exceeded")
}

/// Google names the quota that is used up.
fn is_daily(error: &Value) -> bool {
    details(error)
        .filter_map(|detail| detail["violations"].as_array())
        .flatten()
        .filter_map(|violation| violation["quotaId"].as_str())
        .any(|quota| quota.contains("PerDay"))
}

fn by_words(error: &Value) -> Verdict {
    // Gateways, and Google, repeat the status as a number.
    if let Some(status) = error["code"].as_u64()
        && let Ok(status) = u16::try_from(status)
        && let Ok(status) = StatusCode::from_u16(status)
    {
        return status.classify();
    }
    words(error)
        .map(|word| match word {
            "rate_limit_error" | "rate_limit_exceeded" | "slow_down" => Verdict::THROTTLED,
            "RESOURCE_EXHAUSTED" if retry_delay(error).is_some() => Verdict::THROTTLED,
            "api_error" | "overloaded_error" | "server_error" | "timeout_error" | "UNAVAILABLE" => {
                Verdict::TRANSIENT
            }
            _ => Verdict::STOP,
        })
        .find(|verdict| verdict.is_retryable())
        .unwrap_or(Verdict::STOP)
}

/// `google.rpc.RetryInfo`: seconds with up to nine digits of a fraction, as in `"3.5s"`.
fn retry_delay(error: &Value) -> Option<Duration> {
    details(error)
        .filter_map(|detail| detail["retryDelay"].as_str())
        .filter_map(|delay| delay.strip_suffix('s')?.parse().ok())
        .find_map(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error["details"].as_array().into_iter().flatten()
}
