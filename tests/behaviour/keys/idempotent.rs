use http::{HeaderMap, HeaderValue, StatusCode};
use retry_runtime::ResponseError;
use retry_runtime::llm::ProviderError;
use retry_runtime::on::{self, Combine};
use support::model_errors::{anthropic, google, openai, retry_info};
use support::prelude::*;

#[test]
fn return_types_weaker_than_a_verdict_count_as_ambiguous() {
    let busy = |_: &Failure| true;
    for (verdict, attempts) in [
        (Verdict::from(true), 1),
        (Kind::Transient.into(), 1),
        (Kind::Throttled.into(), 5),
        (Kind::Timeout.into(), 1),
        (Kind::Invalid.into(), 5),
        (Some(Duration::ZERO).into(), 1),
        (on::any.except(on::mentions("quota"))(&TRANSIENT), 1),
        (busy.and(Failure::classify)(&TRANSIENT), 1),
        (Failure::classify.or(busy)(&TRANSIENT), 5),
        (Verdict::TRANSIENT, 5),
    ] {
        #[retry(max = 4, backoff = "none", idempotent = false, on = |_| verdict)]
        fn charge(attempts: &mut u32, verdict: Verdict) -> Result<(), Failure> {
            *attempts += 1;
            Err(TRANSIENT)
        }

        let mut made = 0;
        assert!(charge(&mut made, verdict).is_err());
        assert_eq!(made, attempts, "{verdict:?}");
    }
}

/// Returns the number of requests if each fails with this error.
fn sent<E: Classify + Clone + fmt::Display>(error: &E) -> u32 {
    #[retry(max = 1, backoff = "none", hint = "ignore", idempotent = false)]
    fn charge<E: Classify + Clone + fmt::Display>(error: &E, sent: &mut u32) -> Result<(), E> {
        *sent += 1;
        Err(error.clone())
    }

    let mut sent = 0;
    assert!(charge(error, &mut sent).is_err());
    sent
}

fn answer(status: u16, hint: Option<&'static str>, body: &str) -> ResponseError {
    let mut headers = HeaderMap::new();
    if let Some(hint) = hint {
        headers.insert("retry-after", HeaderValue::from_static(hint));
    }
    ResponseError::new(StatusCode::from_u16(status).unwrap(), headers, body)
}

#[test]
fn only_unprocessed_requests_are_sent_again() {
    for status in 400..=599 {
        for hint in [None, Some("2")] {
            let of_no_standard =
                matches!(status, 418 | 419 | 427 | 430 | 432..=448 | 450 | 452..=499);
            let refused = match (status, hint) {
                (420 | 425 | 429 | 449, _) | (403 | 409 | 413 | 423 | 503, Some(_)) => 2,
                (_, Some(_)) if of_no_standard => 2,
                _ => 1,
            };
            let sent = sent(&answer(status, hint, ""));
            assert_eq!(sent, refused, "{status} {hint:?}");
        }
    }
}

#[test]
fn overload_in_a_body_does_not_mean_unprocessed() {
    let overloaded = anthropic("overloaded_error");
    let unavailable = google(503, "UNAVAILABLE", &serde_json::json!([]));
    let later = google(503, "UNAVAILABLE", &serde_json::json!([retry_info("2s")]));
    let slow_down = openai("server_error", "slow_down");
    for (status, hint, body, expected) in [
        (529, Some("2"), &overloaded, 1),
        (500, Some("2"), &overloaded, 1),
        (503, Some("2"), &unavailable, 2),
        (503, None, &later, 2),
        (500, None, &later, 1),
        // A throttled request was rejected, with any status.
        (503, None, &slow_down, 2),
        (500, None, &slow_down, 2),
    ] {
        let error = answer(status, hint, body);
        assert_eq!(sent(&error), expected, "{status} {hint:?} {body}");
    }
    // Within a stream.
    for (data, expected) in [
        (&anthropic("timeout_error"), 1),
        (&anthropic("rate_limit_error"), 2),
        (&later, 1),
    ] {
        let error = ProviderError::parse(data).unwrap();
        assert_eq!(sent(&error), expected, "{data}");
    }
    let error = ProviderError::parse(&later).unwrap();
    let expected = Verdict::TRANSIENT.after(secs(2)).ambiguous();
    assert_eq!(error.classify(), expected);
}
