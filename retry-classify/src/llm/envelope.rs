use core::time::Duration;

use serde_json::{Value, json};

use super::provider_error::{ProviderError, Source};
use super::truncated;
use crate::Classify;
use crate::status::{by_status, is_non_standard};
use crate::text::fault::Fault;
use crate::text::rules::{lookup, lookup_number, refine};
use crate::text::table::RuleFor::{Aws, Envelope, Generic, Name};
use crate::text::wait::{duration, wait_in};
use crate::verdict::LONGEST_HINT;

const RETRY_INFO: &str = "google.rpc.RetryInfo";

// Each list is one text, split at spaces.

/// The places of an error within an event. OpenAI's `response.failed` and `response.done` contain the error in the
/// response; gateways wrap errors twice.
const PLACES: &str = "/error/error /error /response/error /response/status_details/error";
/// Further places, in a body that the status marks as an error.
const PLACES_BY_STATUS: &str = "/detail/error /detail /errors /status";
/// Fields that name the error, the most specific first.
const NAMES: &str =
    "/details/error_code /code /errorCode /extensions/code /errors/0/reason /type /status /reason";
/// Fields that may contain an HTTP status. Some servers send no other code.
const STATUSES: &str = "code status status_code statusCode error_code http_status";
/// Fields with human-readable text. The first is the message.
const TEXTS: &str = "message Message error detail error_description error_msg error_message errorMessage msg \
    description title reason info";
/// Fields that contain a wait in seconds, from gateways, AWS, Codex, Hugging Face, monday.com and Infura.
const WAITS: &str = "retry_after retryAfter retry_after_seconds retryAfterSeconds resets_in_seconds estimated_time \
    retry_in_seconds backoff_seconds";
/// Fields of Google's error details that name a quota.
const QUOTAS: [&str; 4] = ["quotaId", "quotaMetric", "subject", "description"];

/// The facts that are known before the text is parsed.
#[derive(Clone, Copy)]
struct Facts<'a> {
    /// The HTTP status of the response. With a status, a text in any format is an error, and the status decides if the
    /// text doesn't name a fault.
    status: Option<u16>,
    /// True if quoted errors are parsed. Quotes within quotes are skipped, so deep nesting can't overflow the stack.
    quotes: bool,
    /// True if the error is the server's own. A wrapped or quoted error may come from a server behind this one.
    is_own: bool,
    /// AWS's code, if a header contains it.
    aws: Option<&'a str>,
}

impl Facts<'_> {
    /// Returns true if the status is compatible with the fault. A status about the request itself rules out throttling
    /// and overload: with a 404, "unavailable" may be about a page, and a name, number or quote about user data.
    fn admits(self, fault: Fault) -> bool {
        // The standard 4xx statuses, except vague ones (400, 403) and those for limits and delays.
        let is_exact = matches!(
            self.status,
            Some(401 | 402 | 404..=407 | 409..=417 | 421..=424 | 426 | 428 | 431 | 451)
        );
        !is_exact || !matches!(fault, Fault::Throttled | Fault::Overloaded)
    }

    /// Returns true if a bare number may mean this fault: the fault and the status must agree on whether a retry helps.
    /// With a 429, the number may also mean a billing fault.
    fn admits_number(self, fault: Fault) -> bool {
        let is_worth_a_retry = fault.classify().is_retryable();
        self.status.is_none_or(|status| {
            matches!(status, ..400 | 429) || by_status(status).is_retryable() == is_worth_a_retry
        })
    }

    /// Returns true if a word that also occurs in services' own data may name a fault. False if the status means that
    /// the request was wrong.
    fn admits_generic(self) -> bool {
        !matches!(self.status, Some(400..429))
    }
}

impl ProviderError {
    /// Parses a JSON body, the `data` of one event of a stream, or the text of a whole event stream, from which it
    /// returns the first error. `None` if no error can be parsed.
    ///
    /// A truncated body is read up to its last complete field. If the type and the code are lost, the fault is
    /// [`Fault::Unknown`], or the result is `None`.
    pub fn parse(body: impl AsRef<[u8]>) -> Option<Self> {
        parse(&String::from_utf8_lossy(body.as_ref()), None, None)
    }

    /// The error in the body of a response with this status.
    #[cfg(feature = "http")]
    pub(crate) fn from_response(
        status: http::StatusCode,
        headers: &http::HeaderMap,
        body: &[u8],
    ) -> Option<Self> {
        let aws = headers.get("x-amzn-errortype");
        let aws = aws.and_then(|code| code.to_str().ok());
        parse(&String::from_utf8_lossy(body), Some(status.as_u16()), aws)
    }
}

/// The error in a JSON body, in the data of one event, in an event stream or, if there is a status, in any other text
/// except an HTML page, which gateways send to humans.
fn parse(text: &str, status: Option<u16>, aws: Option<&str>) -> Option<ProviderError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let facts = Facts {
        status,
        quotes: true,
        is_own: true,
        aws,
    };
    let found = match text.chars().next() {
        None if aws.is_none() => return None,
        None => None,
        Some('<') => return parse_xml(text, facts),
        Some('{' | '[') => truncated::parse(text).and_then(|body| parse_body(&body, facts)),
        _ if text.lines().any(is_field) => parse_events(text, facts),
        // The response as a client formatted it. With a status, only a status line marks it as the server's own.
        _ => parse_quote(text, status.is_none() || text.starts_with("HTTP/"), facts),
    };
    found.or_else(|| status.map(|_| parse_error(&Value::from(text), facts)))
}

/// Parses AWS's errors in XML. Other texts that start with `<` are not parsed.
fn parse_xml(text: &str, facts: Facts<'_>) -> Option<ProviderError> {
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split('<').next()
    };
    let code = within("Code").or(facts.aws)?;
    let error = json!({"__type": code, "message": within("Message")});
    Some(parse_error(&error, facts))
}

/// Returns true if the line belongs to an event stream.
fn is_field(line: &str) -> bool {
    line.starts_with("data:") || line.starts_with("event:")
}

fn parse_events(text: &str, facts: Facts<'_>) -> Option<ProviderError> {
    let lines = text.lines().collect::<Vec<_>>();
    let mut events = lines.split(|line| line.is_empty());
    events.find_map(|lines| parse_event(lines, facts))
}

fn parse_event(lines: &[&str], facts: Facts<'_>) -> Option<ProviderError> {
    let of = |name: &'static str| {
        let fields = lines.iter().filter_map(|line| line.split_once(':'));
        fields
            .filter(move |field| field.0 == name)
            .map(|field| field.1)
    };
    let data = of("data").map(|part| part.strip_prefix(' ').unwrap_or(part));
    let data = data.collect::<Vec<_>>().join("\n");
    let value = truncated::parse(data.trim());
    let found = value.as_ref().and_then(|value| parse_body(value, facts));
    found.or_else(|| {
        let is_error = of("event")
            .next_back()
            .is_some_and(|name| name.trim() == "error");
        let value = value.unwrap_or_else(|| data.trim().into());
        is_error.then(|| parse_error(&value, facts))
    })
}

fn parse_body(body: &Value, facts: Facts<'_>) -> Option<ProviderError> {
    let found = parse_envelope(body, facts).or_else(|| {
        facts.status?;
        let first = body.as_array().map_or(Some(body), |items| items.first());
        first.map(|error| parse_error(error, facts))
    })?;
    let source = if has_results(body) {
        Source::Part
    } else {
        found.source
    };
    Some(ProviderError { source, ..found })
}

/// Returns true if a part of the request took effect: another call of a JSON-RPC batch, another GraphQL field, or a
/// tool call by OpenAI's model.
fn has_results(body: &Value) -> bool {
    let is_done = |call: &Value| call.get("result").is_some() && call["error"].is_null();
    let output = body["response"]["output"].as_array();
    body.as_array()
        .is_some_and(|calls| calls.iter().any(is_done))
        || body["errors"].is_array() && has_value(&body["data"])
        || output.is_some_and(|items| !items.is_empty())
}

/// Returns true if the data contains any value. GraphQL writes `null` for each failed field.
fn has_value(data: &Value) -> bool {
    match data {
        Value::Null => false,
        Value::Array(items) => items.iter().any(has_value),
        Value::Object(fields) => fields.values().any(has_value),
        _ => true,
    }
}

fn parse_envelope(body: &Value, facts: Facts<'_>) -> Option<ProviderError> {
    // A Gemini stream without `alt=sse` is a single array.
    if let Value::Array(items) = body {
        return items.iter().find_map(|item| parse_envelope(item, facts));
    }
    let by_status = facts.status.map_or("", |_| PLACES_BY_STATUS);
    let mut places = PLACES.split(' ').chain(by_status.split_terminator(' '));
    let found = places.find_map(|place| {
        let error = body.pointer(place).filter(|error| has_content(error))?;
        Some((place, error))
    });
    let is_wrapped = |place: &str| matches!(place, "/error/error" | "/detail/error");
    let within = |place| Facts {
        is_own: facts.is_own && !is_wrapped(place),
        ..facts
    };
    match found {
        Some((place, error @ Value::Object(_))) => Some(parse_error(error, within(place))),
        Some((_, Value::Array(errors))) => errors.first().map(|error| parse_error(error, facts)),
        // The place contains only a text; the error's other fields are next to it.
        Some((place, _)) => {
            let (around, _) = place.rsplit_once('/')?;
            Some(parse_error(body.pointer(around)?, facts))
        }
        None if is_error_itself(body) => Some(parse_error(body, facts)),
        None => parse_exception(body, facts),
    }
}

/// The error in a Bedrock event, whose only field has the exception's name.
fn parse_exception(body: &Value, facts: Facts<'_>) -> Option<ProviderError> {
    let fields = body.as_object().filter(|fields| fields.len() == 1)?;
    let (name, error) = fields.iter().next()?;
    let is_known = name.ends_with("Exception") && lookup(Name, [name.as_str()]).is_some();
    is_known.then(|| parse_error(&json!({"__type": name, "message": error["message"]}), facts))
}

/// Returns true if the value is an error. Servers write `null`, `false`, 0 or an empty value for "no error".
fn has_content(error: &Value) -> bool {
    let nothing = [json!(null), json!(false), json!(""), json!([]), json!({})];
    !nothing.contains(error) && error.as_f64() != Some(0.0)
}

/// Returns true for an error without an envelope: from OpenAI's Responses API (event `error`), Mistral or a gateway.
fn is_error_itself(body: &Value) -> bool {
    let is_named = |key: &str| {
        let is = |what| lookup(what, body[key].as_str()).is_some();
        is(Name) || is(Generic) || is(Envelope)
    };
    ["type", "object"].iter().any(|&key| body[key] == "error")
        || body["message"].is_string()
            && (fault_of_status(body).is_some() || is_named("type") || is_named("code"))
}

fn parse_error(error: &Value, facts: Facts<'_>) -> ProviderError {
    let name = |place: &str| error.pointer(place).and_then(text);
    let code = name("/details/error_code").or_else(|| name("/code"));
    let error_type = error["type"].as_str().filter(|name| *name != "error");
    let error_type = error_type.or(error["status"].as_str()).map(str::to_owned);
    let texts = TEXTS.split(' ').filter_map(|key| error[key].as_str());
    let texts: Vec<_> = error.as_str().into_iter().chain(texts).collect();
    let raw = error["metadata"]["raw"].as_str();
    let mut quotes = texts.iter().copied().chain(raw).filter(|_| facts.quotes);
    let quoted = quotes.find_map(|text| parse_quote(text, false, facts));
    let details = error["details"].as_array().map_or(&[][..], Vec::as_slice);
    // Alibaba's JSON has the same fields as AWS's XML.
    let in_json = error["RequestId"].as_str().and(error["Code"].as_str());
    let aws = error["__type"].as_str().or(in_json).or(facts.aws);
    let aws = aws.map(aws_code);
    let names = error_names(error, details, aws);
    let by_quoted = quoted.as_ref().map(|error| error.fault);
    let by_quoted = by_quoted.filter(|fault| *fault != Fault::Unknown);
    let facts = Facts { aws, ..facts };
    let (source, fault) = fault(error, &names, facts, by_quoted);
    let is_open = facts
        .status
        .is_none_or(|status| matches!(status, 200..=299 | 403 | 429) || is_non_standard(status));
    let quotas = details.iter().flat_map(quotas).collect::<Vec<_>>();
    let read = names.iter().chain(&quotas).map(String::as_str);
    let read = texts.iter().copied().chain(read);
    let by_name = fault;
    let fault = read.fold(fault, |fault, text| refine(fault, is_open, text));
    let source = match (by_name, fault) {
        (Fault::Unknown, Fault::Internal) => Source::Text,
        _ => source,
    };

    let own = retry_info(details).or_else(|| own_wait(error));
    let in_text = || texts.iter().find_map(|text| wait_in(text));
    let retry_after = own
        .or_else(|| quoted?.retry_after)
        .or_else(|| nested_wait(error))
        .or_else(|| (fault == Fault::Throttled).then(in_text)?);
    ProviderError {
        fault,
        error_type,
        code,
        message: texts.first().copied().unwrap_or_default().to_owned(),
        retry_after,
        asks_for_wait: facts.is_own && own.is_some(),
        is_final: error["retryable"] == false,
        is_of_aws: aws.is_some(),
        source,
    }
}

/// The error's names, the most specific first.
fn error_names(error: &Value, details: &[Value], aws: Option<&str>) -> Vec<String> {
    // Google's `ErrorInfo` is more specific than the status next to it, which covers several reasons.
    let reason = details.iter().find_map(|detail| text(&detail["reason"]));
    let places = NAMES.split(' ');
    let fields = places.filter_map(|place| error.pointer(place).and_then(text));
    // A single word is a name, as in OAuth; several words are a text.
    let word = error["error"].as_str().filter(|text| !text.contains(' '));
    let of_oauth = word.filter(|_| error["error_description"].is_string());
    let of_oauth = of_oauth.map(|name| format!("oauth {name}"));
    let names = reason.into_iter().chain(fields);
    let names = names.chain(word.map(str::to_owned)).chain(of_oauth);
    names.chain(aws.map(str::to_owned)).collect()
}

/// The text of a field that contains a name, or a number used as a name.
fn text(field: &Value) -> Option<String> {
    match field {
        Value::Number(number) => Some(number.to_string()),
        field => field.as_str().map(str::to_owned),
    }
}

/// The fault that the error names, and its source. Billing wins in any position. Otherwise the order is: the code, the
/// type, a quoted error, an envelope's name, the status. But a 429 wins over an envelope.
fn fault(error: &Value, all: &[String], facts: Facts<'_>, quote: Option<Fault>) -> (Source, Fault) {
    // If Anthropic's `details` are missing, the message starts with the error code.
    let message = error["message"].as_str().or(error["error"].as_str());
    let first = message.and_then(|text| text.split([':', ' ']).next());
    if [lookup(Name, first), quote].contains(&Some(Fault::Billing)) {
        return (Source::Others, Fault::Billing);
    }
    let names = || all.iter().map(String::as_str);
    let envelope = lookup(Envelope, names());
    // An error with a code of its own may quote the caller's text, which the server rejected.
    let is_own = |name: &str| !name.starts_with(|c: char| c.is_ascii_digit());
    let mut own = names().filter(|name| is_own(name) && lookup(Envelope, [*name]).is_none());
    let quote = quote.filter(|_| envelope != Some(Fault::Invalid) || own.next().is_none());
    // A 429 is more specific than a name that only blames the client or the server.
    let is_throttled = matches!(facts.status, Some(420 | 429));
    let is_clear =
        |fault: &Fault| !is_throttled || !matches!(fault, Fault::Internal | Fault::Invalid);
    let number = fault_of_status(error).filter(|fault| facts.admits_number(*fault));
    // Meta and Cloudflare mark errors that a retry can fix. This mark wins over the envelope and the numbers.
    let is_declared = error["is_transient"] == true || error["retryable"] == true;
    let is_fixable = is_declared && facts.admits(Fault::Overloaded) && !is_throttled;
    let fixable = is_fixable.then_some(Fault::Overloaded);
    let others = fixable
        .or(envelope.filter(is_clear))
        .or(number.filter(is_clear));
    let others = others.or(is_throttled.then_some(Fault::Throttled));
    let quote = quote.filter(|fault| facts.admits(*fault));
    match (fault_by_name(error, all, facts), quote) {
        (Some(fault), _) if facts.is_own => (Source::Name, fault),
        (Some(fault), _) | (None, Some(fault)) => (Source::Quote, fault),
        (None, None) => (Source::Others, others.unwrap_or(Fault::Unknown)),
    }
}

/// The fault from the names, or from a number used as a name.
fn fault_by_name(error: &Value, names: &[String], facts: Facts<'_>) -> Option<Fault> {
    let names = || names.iter().map(String::as_str);
    let generic = || lookup(Generic, names()).filter(|_| facts.admits_generic());
    let of_vendor = || lookup_number(&text(&error["code"])?, facts.status);
    // The type identifies the service that uses the error number.
    let typed = || {
        let (name, code) = (error["type"].as_str()?, error["code"].as_u64()?);
        lookup(Name, [format!("{name} {code}").as_str()])
    };
    let fault = lookup(Name, names()).or_else(generic);
    let fault = fault.or_else(of_vendor).or_else(typed);
    let fault = fault.or_else(|| lookup(Aws, facts.aws));
    fault.filter(|fault| facts.admits(*fault))
}

/// The code alone, without the namespace before it and the address after it.
fn aws_code(code: &str) -> &str {
    let code = code.rsplit('#').next().unwrap_or(code);
    code.split(':').next().unwrap_or(code)
}

/// The fault from the first field that contains an HTTP status.
fn fault_of_status(error: &Value) -> Option<Fault> {
    let mut keys = STATUSES.split(' ');
    keys.find_map(|key| Fault::of_status(text(&error[key])?.parse().ok()?))
}

/// The provider's own error, quoted by a gateway or a client, perhaps with text around it: "API error 429: {…}".
fn parse_quote(text: &str, is_own: bool, facts: Facts<'_>) -> Option<ProviderError> {
    let (before, text) = text.split_at(text.find('{')?);
    let first = serde_json::Deserializer::from_str(text).into_iter().next();
    let body = match first {
        Some(Ok(body)) => body,
        _ => truncated::parse(text)?,
    };
    let mut numbers = before.split(|c: char| !c.is_ascii_digit());
    let status = numbers.find_map(|number| number.parse().ok().filter(|n| (400..600).contains(n)));
    let facts = Facts {
        status: status.or(facts.status),
        quotes: false,
        is_own,
        aws: None,
    };
    let error = parse_body(&body, facts).unwrap_or_else(|| parse_error(&body, facts));
    let has_wait = facts.status.is_some() && error.retry_after.is_some();
    (has_wait || error.fault != Fault::Unknown).then_some(error)
}

/// The wait in Google's `RetryInfo`, or else the time until the quota in `ErrorInfo` is reset.
fn retry_info(details: &[Value]) -> Option<Duration> {
    let is_info = |detail: &&Value| {
        detail["@type"]
            .as_str()
            .is_some_and(|of| of.ends_with(RETRY_INFO))
    };
    let in_info = details
        .iter()
        .filter(is_info)
        .map(|info| &info["retryDelay"]);
    let until_reset = details
        .iter()
        .map(|detail| &detail["metadata"]["quotaResetDelay"]);
    let delay = in_info.chain(until_reset).find_map(Value::as_str)?.trim();
    // Protocol Buffers' JSON writes durations as `"1.5s"`, and Go's format also as `"1h16m0.5s"`.
    match delay.strip_suffix('s')?.parse() {
        Ok(number) => seconds(number),
        Err(_) => duration(delay),
    }
}

/// The wait in one of the error's own fields.
fn own_wait(error: &Value) -> Option<Duration> {
    let places = [error, &error["metadata"]].into_iter();
    let mut fields = places.flat_map(|place| WAITS.split(' ').map(move |key| &place[key]));
    fields.find_map(|field| seconds(field.as_f64()?))
}

/// The wait in a nested field, which may come from another server. So only the duration is used: the field doesn't show
/// whether the request took effect.
fn nested_wait(error: &Value) -> Option<Duration> {
    let mut fields = error.as_object()?.values();
    fields.find_map(|field| own_wait(field).or_else(|| nested_wait(field)))
}

fn seconds(seconds: f64) -> Option<Duration> {
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (wait <= LONGEST_HINT).then_some(wait)
}

/// The quotas named in the details: in `QuotaFailure`, and in the metadata of `ErrorInfo`.
fn quotas(detail: &Value) -> Vec<String> {
    let metadata = &detail["metadata"];
    let violations = detail["violations"].as_array().into_iter().flatten();
    let names = violations
        .clone()
        .flat_map(|violation| QUOTAS.map(|key| &violation[key]));
    let names = names.chain([&metadata["quota_limit"]]).filter_map(text);
    let values = violations.map(|violation| &violation["quotaValue"]);
    let values = values
        .chain([&metadata["quota_limit_value"]])
        .filter_map(text);
    names
        .chain(values.map(|value| format!("limit: {value}")))
        .collect()
}
