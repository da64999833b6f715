//! Error responses of model APIs, from their references.

use std::time::Duration;

use crate::verdicts::BROKEN;
use retry_runtime::Verdict;
use retry_runtime::llm::Fault;
use serde_json::{Value, json};

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
    [openai_answers(), anthropic_answers(), google_answers()].concat()
}

fn openai_answers() -> Vec<(u16, String, Verdict, Fault)> {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, TooLong};

    vec![
        (
            429,
            openai("requests", "rate_limit_exceeded"),
            Verdict::THROTTLED,
            Throttled,
        ),
        (
            429,
            openai("tokens", "rate_limit_exceeded"),
            Verdict::THROTTLED,
            Throttled,
        ),
        (
            503,
            openai("server_error", "slow_down"),
            Verdict::THROTTLED,
            Throttled,
        ),
        (
            429,
            openai("insufficient_quota", "insufficient_quota"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("insufficient_quota", Value::Null),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("requests", "insufficient_quota"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("insufficient_quota", "rate_limit_exceeded"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("insufficient_quota", "credit_balance_exhausted"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("requests", "credit_balance_exhausted"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("requests", "organization_spend_limit_exceeded"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("requests", "project_spend_limit_exceeded"),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            openai("requests", "organization_usage_limit_exceeded"),
            Verdict::STOP,
            Billing,
        ),
        (500, openai("server_error", Value::Null), BROKEN, Internal),
        (
            503,
            openai("service_unavailable_error", "server_is_overloaded"),
            BROKEN,
            Overloaded,
        ),
        (
            400,
            openai("invalid_request_error", "context_length_exceeded"),
            Verdict::STOP,
            TooLong,
        ),
        (
            401,
            openai("invalid_request_error", "invalid_api_key"),
            Verdict::STOP,
            Invalid,
        ),
    ]
}

fn anthropic_answers() -> Vec<(u16, String, Verdict, Fault)> {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, Timeout, TooLong};

    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "text", "details": {"error_code": "enforced_spend_limit_reached"}}});
    let spent_by_message = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "enforced_spend_limit_reached: text"}});
    vec![
        (
            429,
            anthropic("rate_limit_error"),
            Verdict::THROTTLED,
            Throttled,
        ),
        (500, anthropic("api_error"), BROKEN, Internal),
        (529, anthropic("overloaded_error"), BROKEN, Overloaded),
        (504, anthropic("timeout_error"), BROKEN, Timeout),
        (429, spent.to_string(), Verdict::STOP, Billing),
        (429, spent_by_message.to_string(), Verdict::STOP, Billing),
        (
            400,
            anthropic("invalid_request_error"),
            Verdict::STOP,
            Invalid,
        ),
        (
            401,
            anthropic("authentication_error"),
            Verdict::STOP,
            Invalid,
        ),
        (402, anthropic("billing_error"), Verdict::STOP, Billing),
        (403, anthropic("permission_error"), Verdict::STOP, Invalid),
        (404, anthropic("not_found_error"), Verdict::STOP, Invalid),
        (413, anthropic("request_too_large"), Verdict::STOP, TooLong),
    ]
}

fn google_answers() -> Vec<(u16, String, Verdict, Fault)> {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, Timeout};

    let exhausted = |details: Value| google(429, "RESOURCE_EXHAUSTED", &details);
    let per_day = quota_failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let per_minute = quota_failure("GenerateRequestsPerMinutePerProjectPerModel");
    let hint = Duration::from_millis(10);
    let limited = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "metadata": {"quota_limit": "defaultPerDayPerProject"}});
    let later = json!({"error": {"code": 429, "message": "Resource exhausted. Please try again later.", "status": "RESOURCE_EXHAUSTED"}});
    vec![
        (
            503,
            google(503, "UNAVAILABLE", &json!([])),
            BROKEN,
            Overloaded,
        ),
        (500, google(500, "INTERNAL", &json!([])), BROKEN, Internal),
        (
            504,
            google(504, "DEADLINE_EXCEEDED", &json!([])),
            BROKEN,
            Timeout,
        ),
        (
            429,
            exhausted(json!([per_minute, retry_info("0.01s")])),
            Verdict::THROTTLED.after(hint),
            Throttled,
        ),
        (
            429,
            exhausted(json!([retry_info("soon")])),
            Verdict::THROTTLED,
            Throttled,
        ),
        (
            429,
            exhausted(json!([per_day, retry_info("0.01s")])),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            exhausted(json!([limited, retry_info("0.01s")])),
            Verdict::STOP,
            Billing,
        ),
        (
            429,
            exhausted(json!([per_minute])),
            Verdict::THROTTLED,
            Throttled,
        ),
        (429, exhausted(json!([])), Verdict::THROTTLED, Throttled),
        (429, later.to_string(), Verdict::THROTTLED, Throttled),
        (
            400,
            google(400, "INVALID_ARGUMENT", &json!([])),
            Verdict::STOP,
            Invalid,
        ),
        (
            403,
            google(403, "PERMISSION_DENIED", &json!([])),
            Verdict::STOP,
            Invalid,
        ),
    ]
}
