//! Classification of the error bodies of model APIs.

use http::{HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use retry_runtime::ResponseError;
use retry_runtime::llm::{Fault, ProviderError};
use serde_json::{Value, json};
use support::model_errors::{answers, anthropic, google, openai, retry_info};
use support::prelude::*;

mod answers;
mod odd_shapes;
mod waits;

fn response(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> ResponseError {
    let header = |(name, value)| {
        let name = HeaderName::from_static(name);
        (name, HeaderValue::from_static(value))
    };
    let headers = headers.iter().copied().map(header).collect();
    ResponseError::new(StatusCode::from_u16(status).unwrap(), headers, body)
}

#[test]
fn errors_within_a_stream_have_the_verdict_of_their_fault() {
    for (_, body, _, fault) in answers() {
        let forms = [
            body.clone(),
            format!("  {body}\n"),
            format!("event: error\ndata: {body}\n\n"),
            format!("data: {body}\r\n\r\n"),
            format!("data:{body}"),
            format!(
                ": ping\n\nevent: message\ndata: {{\"delta\":1}}\n\ndata: {body}\n\ndata: [DONE]\n\n"
            ),
            format!("[{body}]"),
            format!("[{{\"candidates\":[]}},{body}]"),
        ];
        for form in forms {
            let error = ProviderError::parse(&form).unwrap();
            assert_eq!(error.fault(), fault, "{form}");
            let kind = fault.classify().kind();
            assert_eq!(error.classify().kind(), kind, "{form}");
        }
    }
    let responses = r#"{"type":"error","code":"rate_limit_exceeded","message":"text","param":null,"sequence_number":1}"#;
    let failed = r#"{"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"text"}}}"#;
    for (event, fault) in rows! {
        responses, Fault::Throttled;
        failed, Fault::Internal;
        &openai("input_tokens_rate_limit_exceeded", Value::Null), Fault::Throttled;
        "event: error\ndata: no JSON\n\n", Fault::Unknown;
    } {
        let error = ProviderError::parse(event).unwrap();
        assert_eq!(error.fault(), fault, "{event}");
    }
}

#[test]
fn a_body_without_an_error_has_none() {
    for body in [
        "",
        "text",
        "<html>502</html>",
        "[DONE]",
        "data: [DONE]\n\n",
        "{}",
        "[]",
        "[[]]",
        "null",
        r#"{"error": null, "id": "resp_1"}"#,
        r#"{"type": "response.completed", "response": {"error": null}}"#,
        r#"{"type": "response.done", "response": {"status_details": null}}"#,
        r#"{"lastException": {"message": "text"}}"#,
        r#"{"throttlingException": {"message": "text"}, "usage": 1}"#,
        r#"{"choices": [{"delta": {"content": "{\"error\": {\"type\": \"api_error\"}}"}}]}"#,
        "event: message_start\ndata: {\"type\": \"message_start\"}\n\nevent: ping\ndata: {}\n\n",
        "{\"error\"",
    ] {
        assert_eq!(ProviderError::parse(body), None, "{body}");
    }
}

#[test]
fn the_message_can_be_read() {
    let error = ProviderError::parse(openai("requests", "rate_limit_exceeded")).unwrap();
    let expected = (Some("requests"), Some("rate_limit_exceeded"));
    assert_eq!((error.error_type(), error.code()), expected);
    assert_eq!(error.message(), "text");
    assert_eq!(error.to_string(), "requests (rate_limit_exceeded): text");

    let error = ProviderError::parse(google(503, "UNAVAILABLE", &json!([]))).unwrap();
    assert_eq!(error.to_string(), "UNAVAILABLE (503): text");
    let error = ProviderError::parse(r#"{"error": "the model is gone"}"#).unwrap();
    let expected = ("error: the model is gone", Fault::Unknown);
    assert_eq!((error.to_string().as_str(), error.fault()), expected);
}

#[test]
fn a_wait_is_the_hint_of_the_verdict_if_it_can_be_used() {
    let error = |code, status, delay| {
        let body = google(code, status, &json!([retry_info(delay)]));
        ProviderError::parse(body).unwrap()
    };
    let exhausted = Verdict::THROTTLED.after(secs(44));
    let broken = Verdict::TRANSIENT.ambiguous().after(secs(44));
    let wait = |delay| error(429, "RESOURCE_EXHAUSTED", delay).retry_after();
    assert_rows! {
        error(429, "RESOURCE_EXHAUSTED", "44s").classify() => exhausted;
        error(500, "INTERNAL", "44s").classify() => broken;
        wait("44s") => Some(secs(44));
        wait("0.5s") => Some(millis(500));
        wait("0s") => Some(secs(0));
    }
    for delay in ",s,44,-1s,NaNs,infs,1e300s,31536001s,1 m".split(',') {
        assert_eq!(wait(delay), None, "{delay}");
    }
}

#[test]
fn headers_and_body_are_weighed() {
    let exhausted = google(429, "RESOURCE_EXHAUSTED", &json!([]));
    let waiting = google(429, "RESOURCE_EXHAUSTED", &json!([retry_info("9s")]));
    let unpaid = openai("insufficient_quota", Value::Null);
    let throttled = Verdict::THROTTLED;
    let table = rows! {
        // An unpaid bill stops, with any other content.
        429, "retry-after", "1", &unpaid, Verdict::STOP;
        429, "x-should-retry", "true", &unpaid, Verdict::STOP;
        // The header wins over the rest.
        429, "x-should-retry", "false", &waiting, Verdict::STOP;
        429, "x-should-retry", "true", &exhausted, throttled;
        400, "x-should-retry", "true", &anthropic("api_error"), Verdict::TRANSIENT;
        // A wait in a header is one.
        429, "retry-after", "1", &exhausted, throttled.after(secs(1));
        429, "retry-after", "1", &waiting, throttled.after(secs(1));
        429, "retry-after", "soon", &waiting, throttled.after(secs(9));
        // The status decides if the body has no code for throttling or overload.
        404, "server", "x", &anthropic("api_error"), Verdict::STOP;
        503, "server", "x", &anthropic("invalid_request_error"), Verdict::TRANSIENT.ambiguous();
        400, "server", "x", &anthropic("overloaded_error"), Verdict::TRANSIENT;
        404, "server", "x", &json!({"error": "internal"}).to_string(), Verdict::STOP;
    };
    for (status, name, value, body, expected) in table {
        let verdict = response(status, &[(name, value)], body).classify();
        assert_eq!(verdict, expected, "{status} {name}: {value}, {body}");
    }
}

#[test]
fn messages_decide_if_there_is_no_code() {
    use Fault::{Billing, Filtered, Invalid, Throttled, TooLong, Unknown};

    let table = rows! {
        400, "", "This model's maximum context length is 4097 tokens. However, you requested 5000", TooLong;
        400, "invalid_request_error", "Your input exceeds the context window of this model.", TooLong;
        400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum", TooLong;
        400, "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", TooLong;
        400, "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", TooLong;
        400, "", "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", TooLong;
        400, "ValidationException", "Input is too long for requested model.", TooLong;
        400, "exceed_context_size_error", "the request exceeds the available context size", TooLong;
        413, "request_too_large", "Request exceeds the maximum allowed number of bytes.", TooLong;
        429, "tokens", "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 43000. \
             The input or output tokens must be reduced in order to run successfully.", TooLong;
        400, "BadRequestError", "The input (9 tokens) is longer than the model's context length (8 tokens).", TooLong;
        422, "validation", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8. Given: 7", TooLong;
        422, "validation", "Input validation error: `inputs` must have less than 1000 tokens. Given: 1001", TooLong;
        400, "invalid_prompt", "Invalid prompt", Filtered;
        400, "content_filter", "The response was filtered", Filtered;
        400, "invalid_request_error", "Output blocked by content filtering policy", Filtered;
        400, "invalid_request_error", "Content Exists Risk", Filtered;
        400, "invalid_request_error", "max_tokens: must be positive", Invalid;
        429, "insufficient_quota", "maximum context length", Billing;
        429, "rate_limit_error", "Slow down", Throttled;
        500, "", "oops", Unknown;
    };
    for (status, name, message, expected) in table {
        let code = if status == 429 && expected == TooLong {
            "rate_limit_exceeded"
        } else {
            ""
        };
        let body = json!({"error": {"type": name, "code": code, "message": message}}).to_string();
        let error = ProviderError::parse(&body).unwrap();
        assert_eq!(error.fault(), expected, "{body}");
        if matches!(expected, TooLong | Filtered) {
            for (status, expected) in [(status, Verdict::STOP), (500, Verdict::TRANSIENT.once())] {
                assert_eq!(response(status, &[], &body).classify(), expected, "{body}");
            }
        }
    }
}

#[test]
fn a_wait_in_the_message_counts_if_there_is_no_other() {
    let table = rows! {
        "Limit 3, Used 3. Please try again in 20s. Visit https://example.org", Some(millis(20_000));
        "Please try again in 1.242s.", Some(millis(1242));
        "Please try again in 6m0s.", Some(millis(360_000));
        "Please try again in 120ms", Some(millis(120));
        "Try again in 1 hour 2 minutes", Some(millis(3_720_000));
        "Please retry in 34.074824224s.", Some(Duration::from_nanos(34_074_824_224));
        "Please retry after 1 second", Some(millis(1000));
        "Please try again in a moment", None;
        "Please try again in 20", None;
        "Please try again in 20 parsecs", None;
        "Please try again in 1e3s", None;
        "Please try again in -1s", None;
        "Please try again in 9999999h", None;
        "Please try again in ", None;
        // The first wait counts, with any wording: services ask for a wait first, and then explain their limits.
        "Retry after 5s. The limit resets in 1h.", Some(millis(5000));
        "Limit resets in 1h; then wait 5s", Some(millis(3_600_000));
        "Please wait a moment, or try again in 3s", Some(millis(3000));
        "Retry your request in 2 seconds.", Some(millis(2000));
        "Please try again in a minute", Some(millis(60_000));
        // Words that only contain a keyword, and texts that aren't waits.
        "Await 5s of audio; preset in 3s", None;
        "You may retry 3 times; the limit resets every 60 seconds", None;
        "20s", None;
    };
    for (message, expected) in table {
        let body =
            json!({"error": {"code": "rate_limit_exceeded", "message": message}}).to_string();
        let error = ProviderError::parse(&body).unwrap();
        assert_eq!(error.retry_after(), expected, "{message}");
        let [left, reset] = [("ratelimit-remaining", "0"), ("ratelimit-reset", "60")];
        let limited = response(429, &[left, reset], &body).classify();
        assert_eq!(limited.hint(), expected.or(Some(secs(60))), "{message}");
        let asked = response(429, &[left, reset, ("retry-after", "3")], &body).classify();
        assert_eq!(asked.hint(), Some(secs(3)), "{message}");
    }
    // Only a throttled response asks for a wait.
    let busy = json!({"error": {"type": "overloaded_error", "message": "Please try again in 2s"}});
    let busy = ProviderError::parse(busy.to_string()).unwrap();
    assert_eq!(busy.retry_after(), None);
}

#[test]
fn the_start_of_a_truncated_body_counts() {
    let long = "text ".repeat(ResponseError::BODY_LIMIT);
    let of = |body: Value| response(429, &[], &body.to_string());
    let before = of(json!({"error": {"code": "insufficient_quota", "message": long}}));
    assert_eq!(before.classify(), Verdict::STOP);
    let after = of(json!({"error": {"message": long, "type": "insufficient_quota"}}));
    assert_eq!(after.provider_error().unwrap().fault(), Fault::Throttled);
    assert_eq!(after.classify(), Verdict::THROTTLED);
}

proptest! {
    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,200}") {
        ProviderError::parse(&body);
        ProviderError::parse(&text);
        ProviderError::parse(format!("{{\"error\":{{\"code\":{text}"));
    }

    #[test]
    fn no_cut_makes_an_unpaid_bill_retryable_within_a_stream(cut in 0_usize..70) {
        let body = openai("insufficient_quota", "insufficient_quota");
        let whole = ProviderError::parse(&body).unwrap();
        prop_assert!(!whole.classify().is_retryable());
        if let Some(cut) = ProviderError::parse(&body[..cut.min(body.len())]) {
            prop_assert!(!cut.classify().is_retryable());
        }
    }

    #[test]
    fn deeply_nested_bodies_are_parsed(depth in 0_usize..50_000) {
        ProviderError::parse("[".repeat(depth));
        ProviderError::parse("{\"error\":".repeat(depth));
    }
}
