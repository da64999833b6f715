//! Errors that are not in the provider's own envelope: from gateways, proxies, and servers that only resemble it.

use http::{HeaderMap, StatusCode};
use retry_runtime::ResponseError;
use retry_runtime::llm::{Fault, ProviderError};
use serde_json::{Value, json};
use support::model_errors::{anthropic, google, openai, retry_info};
use support::prelude::*;
use support::verdicts::BROKEN;

fn fault(body: &str) -> Option<Fault> {
    ProviderError::parse(body).map(|error| error.fault())
}

fn verdict(status: u16, body: impl Into<Vec<u8>>) -> Verdict {
    let status = StatusCode::from_u16(status).unwrap();
    ResponseError::new(status, HeaderMap::new(), body).classify()
}

/// A provider's error, quoted by `OpenRouter`.
fn raw(code: u16, quoted: &str) -> String {
    let error =
        json!({"code": code, "message": "Provider returned error", "metadata": {"raw": quoted}});
    json!({ "error": error }).to_string()
}

/// A provider's error, quoted by a proxy.
fn message(quoted: &str) -> String {
    json!({"error": {"message": quoted, "type": null, "code": "429"}}).to_string()
}

#[test]
fn an_error_quoted_by_a_gateway_is_the_providers() {
    let unpaid = openai("insufficient_quota", Value::Null);
    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "enforced_spend_limit_reached: text"}}).to_string();
    let busy = openai("requests", "rate_limit_exceeded");
    let suspended = openai("exceeded_current_quota_error", Value::Null);
    let exhausted = google(429, "RESOURCE_EXHAUSTED", &json!([]));
    for (quoted, expected) in [
        (&unpaid, Fault::Billing),
        (&spent, Fault::Billing),
        (&busy, Fault::Throttled),
        (&exhausted, Fault::Throttled),
        (&anthropic("overloaded_error"), Fault::Overloaded),
        (&suspended, Fault::Billing),
        (&String::from("no JSON {"), Fault::Throttled),
        (&String::from("{}"), Fault::Throttled),
    ] {
        for body in [
            raw(429, quoted),
            message(quoted),
            message(&format!("429 {quoted}")),
            message(&format!(
                "Error from provider(429): {quoted}\nError: {quoted}\n  at send"
            )),
            json!({"error": quoted, "code": 429}).to_string(),
        ] {
            assert_eq!(fault(&body), Some(expected), "{body}");
        }
    }
    for body in [raw(429, &unpaid), message(&unpaid)] {
        assert_eq!(verdict(429, body), Verdict::STOP);
    }

    let waiting = google(429, "RESOURCE_EXHAUSTED", &json!([retry_info("9s")]));
    let expected = Verdict::THROTTLED.after(secs(9));
    assert_eq!(verdict(429, raw(429, &waiting)), expected);

    // A quotation doesn't override the gateway's own code, except for an unpaid bill.
    let named = |name: &str, code: Value, quoted: &str| {
        fault(&openai(name, code).replace("\"text\"", &json!(quoted).to_string()))
    };
    for (name, code, quoted, expected) in rows! {
        "invalid_request_error", "invalid_value".into(), &busy, Fault::Invalid;
        "invalid_request_error", "invalid_value".into(), &unpaid, Fault::Billing;
        "authentication_error", "".into(), &busy, Fault::Invalid;
        "authentication_error", "".into(), &unpaid, Fault::Billing;
        // A code that the gateway uses for everything that it passes on has no meaning.
        "invalid_request_error", Value::Null, &busy, Fault::Throttled;
        "api_error", Value::Null, &busy, Fault::Throttled;
    } {
        assert_eq!(named(name, code, quoted), Some(expected), "{name}");
    }

    // Quotations of quotations don't nest.
    let mut body = openai("server_error", Value::Null);
    for _ in 0..12 {
        body = message(&body);
    }
    assert_eq!(fault(&body), Some(Fault::Throttled));
}

#[test]
fn an_error_that_is_not_an_object_has_its_fields_next_to_it() {
    for (body, expected) in rows! {
        json!({"error": "no money", "code": "insufficient_quota"}), Fault::Billing;
        json!({"error": true, "type": "overloaded_error", "message": "text"}), Fault::Overloaded;
        json!({"error": 429, "code": 429}), Fault::Throttled;
        json!({"error": [{"type": "rate_limit_error"}]}), Fault::Throttled;
        json!({"message": "text", "code": "insufficient_quota"}), Fault::Billing;
        json!({"message": "text", "type": "rate_limit_error"}), Fault::Throttled;
        json!({"error": "text"}), Fault::Unknown;
    } {
        assert_eq!(fault(&body.to_string()), Some(expected), "{body}");
    }
    let error = ProviderError::parse(r#"{"error": "no money", "code": "insufficient_quota"}"#);
    assert_eq!(error.unwrap().to_string(), "insufficient_quota: no money");
}

/// Else a stream would end with an error at its first good event.
#[test]
fn an_empty_error_is_none() {
    for empty in ["null", "false", "0", "\"\"", "[]", "{}"] {
        let empty: Value = serde_json::from_str(empty).unwrap();
        let chunk = json!({"error": empty, "choices": [{"delta": {"content": "hi"}}]}).to_string();
        assert_eq!(fault(&chunk), None, "{chunk}");
        assert_eq!(verdict(503, chunk), BROKEN);
    }
    // A message alone, or an unknown code, is not an error either.
    assert_eq!(fault(r#"{"message": "hi", "type": "message"}"#), None);
    let message = r#"{"message": {"role": "assistant"}, "code": "unavailable"}"#;
    assert_eq!(fault(message), None);
}

#[test]
fn text_around_an_envelope_does_not_hide_it() {
    let unpaid = openai("insufficient_quota", Value::Null);
    for body in [
        format!("\u{feff}{unpaid}"),
        format!("\r\n\r\n{unpaid}\n"),
        format!("[{unpaid}]"),
        format!("[[{unpaid}]]"),
        format!("\u{feff}data: {unpaid}"),
        format!("retry: 10\nid: 7\nevent: error\ndata: {unpaid}"),
        unpaid.replace(',', ",\n  "),
    ] {
        assert_eq!(verdict(429, body.as_str()), Verdict::STOP, "{body}");
    }
    let mut not_utf8 = unpaid.into_bytes();
    let text = not_utf8.windows(4).position(|part| part == b"text");
    not_utf8[text.unwrap()] = 0xff;
    assert_eq!(verdict(429, not_utf8), Verdict::STOP);
}

#[test]
fn a_gateways_page_is_classified_by_its_status() {
    let page =
        "<!DOCTYPE html><html><head><title>429 insufficient_quota</title></head>\ndata: {\n</html>";
    for page in [
        page,
        "",
        "upstream connect error or disconnect/reset before headers",
    ] {
        assert_eq!(fault(page), None, "{page}");
        assert_eq!(verdict(502, page), BROKEN);
        assert_eq!(verdict(429, page), Verdict::THROTTLED);
        assert_eq!(verdict(404, page), Verdict::STOP);
    }
}

#[test]
fn a_numeric_code_is_classified_as_a_status() {
    for (code, fault, verdict) in rows! {
        429, Fault::Throttled, Verdict::THROTTLED;
        503, Fault::Overloaded, BROKEN;
        529, Fault::Overloaded, BROKEN;
        500, Fault::Internal, BROKEN;
        402, Fault::Billing, Verdict::STOP;
        404, Fault::Invalid, Verdict::STOP;
        599, Fault::Internal, BROKEN;
        505, Fault::Invalid, Verdict::STOP;
        413, Fault::TooLong, Verdict::STOP;
    } {
        let error = json!({"error": {"code": code, "message": "text"}}).to_string();
        let error = ProviderError::parse(&error).unwrap();
        let expected = (fault, verdict);
        assert_eq!((error.fault(), error.classify()), expected, "{code}");
    }
}
