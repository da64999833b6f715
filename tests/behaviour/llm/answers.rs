//! Real responses of services, from reports and references, with the verdict that an operator would want. Each row of
//! the data has its source.

use std::collections::HashMap;

use http::{HeaderMap, StatusCode};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use retry_runtime::ResponseError;
use retry_runtime::llm::{ProviderError, wait_in};
use retry_runtime::own_loop::{Call, Site};
use serde::Deserialize;
use serde_json::{Value, json};
use support::prelude::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    of: String,
    source: String,
    status: u16,
    #[serde(default)]
    headers: HashMap<String, String>,
    #[serde(default)]
    body: Value,
    verdict: String,
    /// The hint, in seconds.
    wait: Option<f64>,
    /// True if the body has the same verdict as an event of a stream, which has no status.
    #[serde(default)]
    event: bool,
}

impl Answer {
    fn wanted(&self) -> Verdict {
        let verdict = match self.verdict.as_str() {
            "throttled" => Verdict::THROTTLED,
            // Throttled, as another server was: something may have been done.
            "quoted" => Verdict::THROTTLED.ambiguous(),
            // Not processed.
            "refused" => Verdict::TRANSIENT,
            // Something may have been done.
            "ambiguous" => Verdict::TRANSIENT.ambiguous(),
            // Not worth a retry, although the server failed.
            "down" => Verdict::TRANSIENT.once(),
            "stop" => Verdict::STOP,
            other => panic!("a verdict is not {other}"),
        };
        match self.wait {
            Some(wait) => verdict.after(Duration::from_secs_f64(wait)),
            None => verdict,
        }
    }

    fn body(&self) -> String {
        match &self.body {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => body.to_string(),
        }
    }

    fn response(&self) -> ResponseError {
        let status = StatusCode::from_u16(self.status).unwrap();
        let headers = HeaderMap::try_from(&self.headers).unwrap();
        ResponseError::new(status, headers, self.body())
    }
}

fn answers() -> Vec<Answer> {
    let lines = include_str!("answers.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn every_response_has_the_expected_verdict() {
    let mut wrong = Vec::new();
    for answer in answers() {
        let (body, wanted) = (answer.body(), answer.wanted());
        let mut check = |place: &str, verdict: Option<Verdict>, wanted: Verdict| {
            if verdict != Some(wanted) {
                let Answer { of, source, .. } = &answer;
                wrong.push(format!(
                    "{of} ({source}) {place}: {verdict:?}, not {wanted:?}: {body}"
                ));
            }
        };
        check("as a response", Some(answer.response().classify()), wanted);
        if answer.event {
            // A stream that started with a 200 shows that the server is up.
            let wanted = if wanted.is_retryable() {
                wanted
            } else {
                Verdict::STOP
            };
            for event in [body.clone(), format!("event: error\ndata: {body}\n\n")] {
                let verdict = ProviderError::parse(event).map(|error| error.classify());
                check("in a stream", verdict, wanted);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const MAX_HINT: Duration = Duration::from_mins(1);

/// For any wait in a response, or none: no call continues at once, and no call waits longer than its limit.
#[tokio::test(start_paused = true)]
async fn no_response_causes_an_immediate_retry_or_too_long_a_wait() {
    #[retry(max = 1, base = "100ms", jitter = "none", max_hint = "60s")]
    async fn ask(answer: &Answer, attempts: &mut u32) -> Result<(), ResponseError> {
        *attempts += 1;
        Err(answer.response())
    }

    for answer in answers() {
        let wanted = answer.wanted();
        let hint = wanted.hint().unwrap_or_default();
        let is_retried = wanted.is_retryable() && hint <= MAX_HINT;
        let (expected, least) = if is_retried {
            (2, hint.max(millis(100)))
        } else {
            (1, Duration::ZERO)
        };
        let (began, mut attempts) = (Instant::now(), 0);
        ask(&answer, &mut attempts).await.unwrap_err();
        // The runtime's clock has millisecond granularity.
        let is_exact = (least..=least + millis(1)).contains(&began.elapsed());
        assert_eq!((attempts, is_exact), (expected, true), "{}", answer.source);
    }
}

/// Generates bodies from meaningful words and random numbers.
fn body() -> impl Strategy<Value = String> {
    let words = |text: &'static str| select(text.split(", ").collect::<Vec<_>>());
    let names = words(
        "rate_limit_error, overloaded_error, insufficient_quota, RESOURCE_EXHAUSTED, UNAVAILABLE, \
        api_error, invalid_request_error",
    );
    let asks = words("try again in, retry after, please wait, resets in, tokens per day (TPD):");
    let units = words("ms, s, m, h,  seconds,  minutes, d, ");
    let number = prop_oneof![Just(0.0), 0.0..100.0, 0.0..1e12, any::<f64>()];
    (names, asks, number, units, 0..6_u8).prop_map(|(name, ask, number, unit, form)| {
        let text = format!("{ask} {number}{unit}");
        let error = json!({"type": name, "message": text, "retry_after": number});
        match form {
            0 => text,
            1 => error.to_string(),
            2 => json!({ "error": error }).to_string(),
            3 => json!({"error": {"message": format!("API error 429: {error}")}}).to_string(),
            4 => json!({"error": {"status": name, "details": [{
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{number}s"),
            }]}})
            .to_string(),
            _ => json!({"detail": text, "estimated_time": number}).to_string(),
        }
    })
}

proptest! {
    #[test]
    fn no_random_body_causes_an_immediate_retry_or_too_long_a_wait(
        status in 400_u16..600,
        body in prop_oneof![body(), ".{0,60}"],
        header in option::of((select(vec!["retry-after", "retry-after-ms"]), "[0-9a-zA-Z:. ]{0,12}")),
    ) {
        const BASE: Duration = Duration::from_millis(100);
        const POLICY: Policy = Policy::new().base(BASE).jitter(Jitter::None).max_hint(MAX_HINT);

        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        let answer = ResponseError::new(status, headers, body.clone());
        let event = ProviderError::parse(&body).map(|error| error.classify());
        for verdict in [Some(answer.classify()), event].into_iter().flatten() {
            match Call::new().failed(&Site::new(&POLICY, "ask"), verdict, &answer) {
                Ok(pause) => prop_assert!((BASE..=MAX_HINT).contains(&pause), "{pause:?}"),
                Err(_) => prop_assert!(!verdict.is_retryable() || verdict.hint() > Some(MAX_HINT)),
            }
        }
    }
}

/// If the time grew faster than the text, this test would not end.
#[test]
fn no_text_takes_more_time_than_its_length() {
    let pieces = "try again in |try again in 1s|again-|not ly retry after 1,111,|please wait for about |1s |{|[{|\"|\
        {\"error\":\"|{\"error\":{\"message\":\"429 {|data: {\"a\":1}\n\n|event: error\n|RequestsPerDay|\
        per day per day_";
    for piece in pieces.split('|') {
        let text = piece.repeat((1 << 20) / piece.len());
        let quoted =
            json!({"error": {"message": text, "details": [{"quotaId": text}]}}).to_string();
        for text in [text, quoted] {
            ProviderError::parse(&text);
            wait_in(&text);
            let answer = ResponseError::new(StatusCode::TOO_MANY_REQUESTS, HeaderMap::new(), text);
            answer.classify();
        }
    }
}
