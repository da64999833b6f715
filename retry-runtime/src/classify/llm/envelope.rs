use core::time::Duration;

use serde_json::Value;

use super::{Fault, ProviderError, message, truncated};
use crate::classify::quota;
use crate::classify::verdict::LONGEST_HINT;

const RETRY_INFO: &str = "google.rpc.RetryInfo";
const TRY_AGAIN_LATER: &str = "try again later";

/// The error in a JSON body, in the data of one event, or in an event stream.
pub(super) fn parse(text: &str) -> Option<ProviderError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with(['{', '[']) {
        return of_body(&truncated::parse(text)?, Quotes::Read);
    }
    let mut event = "";
    let mut data = String::new();
    // One empty line more, since the last event may lack the one that ends it.
    for line in text.lines().chain([""]) {
        match line.split_once(':') {
            Some(("event", name)) => event = name.trim(),
            Some(("data", part)) => {
                data.push_str(part.strip_prefix(' ').unwrap_or(part));
                data.push('\n');
            }
            _ if line.is_empty() => {
                if let Some(error) = of_event(event, data.trim()) {
                    return Some(error);
                }
                event = "";
                data.clear();
            }
            _ => {}
        }
    }
    None
}

fn of_event(event: &str, data: &str) -> Option<ProviderError> {
    let is_error = event == "error";
    match truncated::parse(data) {
        Some(value) => of_body(&value, Quotes::Read)
            .or_else(|| is_error.then(|| of_error(&value, Quotes::Read))),
        None if is_error => Some(of_error(&Value::from(data), Quotes::Read)),
        None => None,
    }
}

/// Whether to read errors quoted in this one. Errors quoted in a quoted error are not read, so that no text nests deep
/// enough to exhaust the stack.
#[derive(Clone, Copy)]
enum Quotes {
    Read,
    Ignored,
}

fn of_body(body: &Value, quotes: Quotes) -> Option<ProviderError> {
    // Gemini streams without `alt=sse` are one array.
    if let Value::Array(items) = body {
        return items.iter().find_map(|item| of_body(item, quotes));
    }
    // In the event `response.failed` of OpenAI the response holds it.
    let errors = [&body["error"], &body["response"]["error"]];
    match errors.into_iter().find(|error| says_something(error)) {
        Some(error @ Value::Object(_)) => Some(of_error(error, quotes)),
        Some(Value::Array(errors)) => errors.first().map(|error| of_error(error, quotes)),
        // What else there is stands beside it.
        Some(error) => {
            let mut beside = body.clone();
            if error.is_string() {
                beside["message"] = error.clone();
            }
            Some(of_error(&beside, quotes))
        }
        None if is_error_itself(body) => Some(of_error(body, quotes)),
        None => None,
    }
}

/// Servers write `null`, `false` or an empty text for "no error". An empty object may have been cut off.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null => false,
        Value::Bool(there_is_one) => *there_is_one,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Number(_) | Value::Object(_) => true,
    }
}

/// The event `error` of OpenAI's Responses API; Mistral; gateways that leave the envelope out.
fn is_error_itself(body: &Value) -> bool {
    let names_a_fault = |key: &str| body[key].as_str().and_then(Fault::named).is_some();
    ["type", "object"].iter().any(|&key| body[key] == "error")
        || body["message"].is_string() && ["type", "code"].into_iter().any(names_a_fault)
}

fn of_error(error: &Value, quotes: Quotes) -> ProviderError {
    let text = |key: &str| error[key].as_str().map(str::to_owned);
    let error_type = text("type")
        .filter(|name| name != "error")
        .or_else(|| text("status"));
    let code = match &error["code"] {
        Value::Number(number) => Some(number.to_string()),
        code => code.as_str().map(str::to_owned),
    };
    let detail = error["details"]["error_code"].as_str().map(str::to_owned);
    let code = detail.or(code);
    let message = error["message"]
        .as_str()
        .or(error.as_str())
        .unwrap_or_default()
        .to_owned();
    let details = error["details"].as_array().map_or(&[][..], Vec::as_slice);
    let info = details.iter().find(|detail| {
        let name = detail["@type"].as_str();
        name.is_some_and(|name| name.ends_with(RETRY_INFO))
    });
    let quoted = match quotes {
        Quotes::Read => [&error["message"], &error["metadata"]["raw"]]
            .into_iter()
            .find_map(quoted),
        Quotes::Ignored => None,
    };
    let by_quoted = quoted.as_ref().map(|error| error.fault);
    let fault = match fault(error_type.as_deref(), code.as_deref(), &message, by_quoted) {
        Fault::Exhausted if details.iter().any(is_of_a_day) => Fault::Billing,
        Fault::Exhausted if info.is_some() || says_try_again(&message) => Fault::Throttled,
        fault => message::refined(fault, &message),
    };
    let by_message = || match fault {
        Fault::Throttled => message::wait(&message),
        _ => None,
    };
    let retry_after = info
        .and_then(|info| seconds(info["retryDelay"].as_str()?))
        .or_else(|| quoted.and_then(|error| error.retry_after))
        .or_else(by_message);
    ProviderError {
        fault,
        error_type,
        code,
        message,
        retry_after,
    }
}

/// The provider's own error, quoted by a gateway, perhaps with text around it.
fn quoted(text: &Value) -> Option<ProviderError> {
    let text = text.as_str()?;
    let text = &text[text.find('{')?..];
    let first = serde_json::Deserializer::from_str(text).into_iter().next();
    let body = match first {
        Some(Ok(body)) => body,
        _ => truncated::parse(text)?,
    };
    let error = of_body(&body, Quotes::Ignored).unwrap_or_else(|| of_error(&body, Quotes::Ignored));
    (error.fault != Fault::Unknown).then_some(error)
}

/// Billing wins wherever it appears. Otherwise the code counts more than the type, both count more than a quoted error,
/// and all of them more than a number.
fn fault(
    error_type: Option<&str>,
    code: Option<&str>,
    message: &str,
    quoted: Option<Fault>,
) -> Fault {
    let named = |name: Option<&str>| name.and_then(Fault::named);
    let (by_code, by_type) = (named(code), named(error_type));
    let by_number = || Fault::of_status(code?.parse().ok()?);
    // Where Anthropic's details are left out, the message begins with their code.
    let by_message = named(message.split([':', ' ']).next());
    if [by_code, by_type, by_message, quoted].contains(&Some(Fault::Billing)) {
        return Fault::Billing;
    }
    by_code
        .or(by_type)
        .or(quoted)
        .or_else(by_number)
        .unwrap_or(Fault::Unknown)
}

/// Vertex AI: its shared capacity sends no `RetryInfo`.
fn says_try_again(message: &str) -> bool {
    message.to_ascii_lowercase().contains(TRY_AGAIN_LATER)
}

/// Whether a detail names a quota of a day: `QuotaFailure`, or `ErrorInfo` with its metadata.
fn is_of_a_day(detail: &Value) -> bool {
    let violations = detail["violations"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let names = violations.iter().flat_map(|violation| {
        ["quotaId", "quotaMetric", "subject", "description"].map(|key| &violation[key])
    });
    names
        .chain([&detail["metadata"]["quota_limit"]])
        .filter_map(Value::as_str)
        .any(quota::is_daily)
}

/// A duration in the JSON of Protocol Buffers: `"1.5s"`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.trim().strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|wait| *wait <= LONGEST_HINT)
}
