//! Error responses of model APIs, from their references.

use std::time::Duration;

use retry_runtime::Verdict;
use retry_runtime::llm::Fault;
use serde_json::{Value, json};

use crate::rows;
use crate::verdicts::BROKEN;

/// The body of OpenAI.
pub fn openai(error_type: &str, code: impl Into<Value>) -> String {
    let error = json!({"message": "text", "type": error_type, "param": null, "code": code.into()});
    json!({ "error": error }).to_string()
}

/// The body of Anthropic.
pub fn anthropic(error_type: &str) -> String {
    let error = json!({"type": error_type, "message": "text"});
    json!({"type": "error", "error": error, "request_id": "req_1"}).to_string()
}

/// The body of Google.
pub fn google(code: u16, status: &str, details: &Value) -> String {
    let error = json!({"code": code, "message": "text", "status": status, "details": details});
    json!({ "error": error }).to_string()
}

/// A wait in Google's format.
pub fn retry_info(delay: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
}

fn quota_failure(quota_id: &str) -> Value {
    let violation = json!({"quotaMetric": "generate_content_requests", "quotaId": quota_id});
    json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]})
}

/// Returns each provider's responses: status, body and meaning.
pub fn answers() -> Vec<(u16, String, Verdict, Fault)> {
    let mut all = Vec::from(openai_answers());
    all.extend(anthropic_answers());
    all.extend(google_answers());
    all
}

fn openai_answers() -> [(u16, String, Verdict, Fault); 16] {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, TooLong};
    use Verdict as V;

    rows! {
        429, openai("requests", "rate_limit_exceeded"), V::THROTTLED, Throttled;
        429, openai("tokens", "rate_limit_exceeded"), V::THROTTLED, Throttled;
        503, openai("server_error", "slow_down"), V::THROTTLED, Throttled;
        429, openai("insufficient_quota", "insufficient_quota"), V::STOP, Billing;
        429, openai("insufficient_quota", Value::Null), V::STOP, Billing;
        429, openai("requests", "insufficient_quota"), V::STOP, Billing;
        429, openai("insufficient_quota", "rate_limit_exceeded"), V::STOP, Billing;
        429, openai("insufficient_quota", "credit_balance_exhausted"), V::STOP, Billing;
        429, openai("requests", "credit_balance_exhausted"), V::STOP, Billing;
        429, openai("requests", "organization_spend_limit_exceeded"), V::STOP, Billing;
        429, openai("requests", "project_spend_limit_exceeded"), V::STOP, Billing;
        429, openai("requests", "organization_usage_limit_exceeded"), V::STOP, Billing;
        500, openai("server_error", Value::Null), BROKEN, Internal;
        503, openai("service_unavailable_error", "server_is_overloaded"), BROKEN, Overloaded;
        400, openai("invalid_request_error", "context_length_exceeded"), V::STOP, TooLong;
        401, openai("invalid_request_error", "invalid_api_key"), V::STOP, Invalid;
    }
}

fn anthropic_answers() -> [(u16, String, Verdict, Fault); 12] {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, Timeout, TooLong};
    use Verdict as V;

    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "text", "details": {"error_code": "enforced_spend_limit_reached"}}});
    let spent_by_message = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "enforced_spend_limit_reached: text"}});
    rows! {
        429, anthropic("rate_limit_error"), V::THROTTLED, Throttled;
        500, anthropic("api_error"), BROKEN, Internal;
        529, anthropic("overloaded_error"), BROKEN, Overloaded;
        504, anthropic("timeout_error"), BROKEN, Timeout;
        429, spent.to_string(), V::STOP, Billing;
        429, spent_by_message.to_string(), V::STOP, Billing;
        400, anthropic("invalid_request_error"), V::STOP, Invalid;
        401, anthropic("authentication_error"), V::STOP, Invalid;
        402, anthropic("billing_error"), V::STOP, Billing;
        403, anthropic("permission_error"), V::STOP, Invalid;
        404, anthropic("not_found_error"), V::STOP, Invalid;
        413, anthropic("request_too_large"), V::STOP, TooLong;
    }
}

fn google_answers() -> [(u16, String, Verdict, Fault); 12] {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, Timeout};
    use Verdict as V;

    let of = |code, status| google(code, status, &json!([]));
    let exhausted = |details: Value| google(429, "RESOURCE_EXHAUSTED", &details);
    let per_day = quota_failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let per_minute = quota_failure("GenerateRequestsPerMinutePerProjectPerModel");
    let hint = Duration::from_millis(10);
    let limited = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "metadata": {"quota_limit": "defaultPerDayPerProject"}});
    let later = json!({"error": {"code": 429, "message": "Resource exhausted. Please try again later.", "status": "RESOURCE_EXHAUSTED"}});
    rows! {
        503, of(503, "UNAVAILABLE"), BROKEN, Overloaded;
        500, of(500, "INTERNAL"), BROKEN, Internal;
        504, of(504, "DEADLINE_EXCEEDED"), BROKEN, Timeout;
        429, exhausted(json!([per_minute, retry_info("0.01s")])), V::THROTTLED.after(hint), Throttled;
        429, exhausted(json!([retry_info("soon")])), V::THROTTLED, Throttled;
        429, exhausted(json!([per_day, retry_info("0.01s")])), V::STOP, Billing;
        429, exhausted(json!([limited, retry_info("0.01s")])), V::STOP, Billing;
        429, exhausted(json!([per_minute])), V::THROTTLED, Throttled;
        429, exhausted(json!([])), V::THROTTLED, Throttled;
        429, later.to_string(), V::THROTTLED, Throttled;
        400, of(400, "INVALID_ARGUMENT"), V::STOP, Invalid;
        403, of(403, "PERMISSION_DENIED"), V::STOP, Invalid;
    }
}
