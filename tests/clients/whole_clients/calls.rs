//! The behaviour of calls, with exact times.

use std::io::ErrorKind;

use Answer::{Fails, Never, Status, Text};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use retry_clients::ClientRetries;
use retry_clients::http::classify;
use support::prelude::*;
use tokio::time::sleep_until;
use tower::ServiceExt;

use super::scripted::{Answer, Scripted, post};

const SECOND: Duration = Duration::from_secs(1);
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// 1 s, 2 s, 4 s.
const POLICY: Policy = Policy::new().jitter(Jitter::None);

/// The status that the caller gets, or the error's text.
async fn send(service: &Scripted, retries: impl Into<ClientRetries>) -> Result<u16, String> {
    let sent = service.under(retries).oneshot(post("hello")).await;
    sent.map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())
}

/// The responses, the start times of attempts, and the caller's result.
type Case = (&'static [Answer], &'static [f64], Result<u16, &'static str>);

#[tokio::test(start_paused = true)]
async fn failures_are_retried_and_other_responses_returned() {
    let cases: &[Case] = &[
        (&[], &[0.0], Ok(200)),
        (&[Status(404, &[])], &[0.0], Ok(404)),
        (&[Status(501, &[])], &[0.0], Ok(501)),
        (&[Status(503, &[])], &[0.0, 1.0], Ok(200)),
        (&[Status(503, &[]), Status(404, &[])], &[0.0, 1.0], Ok(404)),
        (&[Status(429, &[("retry-after", "7")])], &[0.0, 7.0], Ok(200)),
        (&[Status(429, &[("retry-after", "500")])], &[0.0], Ok(429)),
        (&[Status(503, &[("x-should-retry", "false")])], &[0.0], Ok(503)),
        (&[Status(400, &[("x-should-retry", "true")])], &[0.0, 1.0], Ok(200)),
        (
            &[Status(500, &[]), Status(502, &[]), Status(504, &[]), Status(529, &[])],
            &[0.0, 1.0, 3.0, 7.0],
            Ok(529),
        ),
        (&[Fails(ErrorKind::ConnectionReset)], &[0.0, 1.0], Ok(200)),
        (&[Fails(ErrorKind::InvalidData)], &[0.0], Err("invalid data")),
    ];
    for (answers, starts, expected) in cases {
        let service = Scripted::new(answers.iter().cloned());
        let sent = send(&service, POLICY).await;
        assert_eq!(sent.as_ref().map_err(String::as_str).copied(), expected.clone(), "{answers:?}");
        assert_eq!(service.starts(), *starts, "{answers:?}");
        let bodies = service.received();
        assert!(bodies.iter().all(|request| request.body == "hello"), "{answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_log_is_that_of_any_call() {
    let cases: &[(&[Answer], &[&str])] = &[
        (&[Status(404, &[])], &[]),
        (
            &[Status(503, &[])],
            &[
                "retrying POST api.example attempt=1 max=3 delay=1s error=503 Service Unavailable reason=transient",
                "succeeded POST api.example attempt=2 max=3",
            ],
        ),
        (
            &[Status(503, &[]), Status(404, &[])],
            &[
                "retrying POST api.example attempt=1 max=3 delay=1s error=503 Service Unavailable reason=transient",
                "gave up POST api.example attempt=2 max=3 error=404 Not Found reason=not retryable",
            ],
        ),
        (
            &[Fails(ErrorKind::InvalidData)],
            &["gave up POST api.example attempt=1 max=3 error=invalid data reason=not retryable"],
        ),
    ];
    for (answers, lines) in cases {
        let recording = testing::record();
        let _ = send(&Scripted::new(answers.iter().cloned()), POLICY).await;
        assert_eq!(recording.lines(), *lines);
    }
    let recording = testing::record();
    let named = ClientRetries::new(POLICY.max(0)).name("shop");
    let _ = send(&Scripted::new([Status(503, &[])]), named).await;
    let expected = ["gave up shop attempt=1 max=0 error=503 Service Unavailable reason=exhausted"];
    assert_eq!(recording.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn ambiguous_failures_and_methods() {
    let ambiguous = || Scripted::new([Status(500, &[])]);
    let cases = [
        (ClientRetries::new(POLICY), Method::POST, None, 2),
        (ClientRetries::new(POLICY).idempotent(false), Method::GET, None, 1),
        (ClientRetries::new(POLICY).idempotent_methods(), Method::POST, None, 1),
        (ClientRetries::new(POLICY).idempotent_methods(), Method::PATCH, None, 1),
        (ClientRetries::new(POLICY).idempotent_methods(), Method::POST, Some("7"), 2),
        (ClientRetries::new(POLICY).idempotent_methods(), Method::GET, None, 2),
        (ClientRetries::new(POLICY).idempotent_methods(), Method::DELETE, None, 2),
    ];
    for (retries, method, key, attempts) in cases {
        let service = ambiguous();
        let mut request = Request::builder().method(&method).uri("http://api.example/");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::from("")).unwrap();
        service.under(retries).oneshot(request).await.unwrap();
        assert_eq!(service.starts().len(), attempts, "{method} {key:?}");
    }
    // Refused unread, so no key is needed.
    let service = Scripted::new([Status(429, &[])]);
    assert_eq!(send(&service, ClientRetries::new(POLICY).idempotent(false)).await, Ok(200));
}

/// The server may still be processing the lost attempt, and reports that its key is in use.
#[tokio::test(start_paused = true)]
async fn a_key_in_use_is_waited_for() {
    let in_use = || Status(409, &[]);
    let cases = [
        (Some("7"), vec![Never, in_use(), in_use()], &[0.0, 6.0, 8.0, 12.0][..], 200),
        (Some("7"), vec![Status(429, &[]), in_use()], &[0.0, 1.0], 409),
        (Some("7"), vec![in_use()], &[0.0], 409),
        (None, vec![Never, in_use()], &[0.0, 6.0], 409),
    ];
    for (key, answers, starts, status) in cases {
        let service = Scripted::new(answers.clone());
        let mut request = post("");
        let key = key.map(HeaderValue::from_static);
        request.headers_mut().extend(key.map(|key| (IDEMPOTENCY_KEY, key)));
        let sent = service.under(POLICY.timeout(5 * SECOND)).oneshot(request);
        assert_eq!(sent.await.unwrap().status(), status, "{answers:?}");
        assert_eq!(service.starts(), starts, "{answers:?}");
    }
}

/// Reads bodies, and takes an empty one for a failure.
fn read() -> ClientRetries {
    ClientRetries::new(POLICY).read_bodies(4096).on(|outcome| match outcome {
        Ok(answer) if answer.is_empty() => Some(Verdict::TRANSIENT),
        outcome => classify(outcome),
    })
}

/// Their users want each part at once.
#[tokio::test(start_paused = true)]
async fn streams_are_not_read() {
    for (content, is_read) in [
        ("text/event-stream; charset=utf-8", false),
        ("application/vnd.amazon.eventstream", false),
        ("application/stream+json", false),
        ("application/json;stream=watch", false),
        ("Application/X-NDJSON", false),
        ("application/jsonl", false),
        ("application/json-seq", false),
        ("application/connect+proto", false),
        ("multipart/mixed; boundary=-", false),
        ("application/json", true),
        ("application/octet-stream", true),
    ] {
        let headers = vec![("content-type", content)].leak();
        let service = Scripted::new([Status(200, headers)]);
        send(&service, read()).await.unwrap();
        let attempts = 1 + usize::from(is_read);
        assert_eq!(service.starts().len(), attempts, "{content}");
    }
}

#[tokio::test(start_paused = true)]
async fn errors_in_bodies_are_classified() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    let unpaid =
        r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"pay"}}"#;
    let wait = "Rate limit reached. Please try again in 20s.";
    let wait_in_json = r#"{"message":"Rate limit reached. Please try again in 20s."}"#;
    let cases: [(Answer, ClientRetries, &[f64]); 9] = [
        (Text(200, overloaded), ClientRetries::new(POLICY), &[0.0]),
        (Text(200, overloaded), read(), &[0.0, 1.0]),
        (Text(429, unpaid), ClientRetries::new(POLICY), &[0.0, 1.0]),
        (Text(429, unpaid), read(), &[0.0]),
        (Text(429, wait), ClientRetries::new(POLICY).read_bodies(4096), &[0.0, 20.0]),
        (Text(429, wait_in_json), ClientRetries::new(POLICY).read_bodies(4096), &[0.0, 20.0]),
        (Text(200, " \n"), read(), &[0.0, 1.0]),
        (Text(204, ""), read(), &[0.0]),
        (Text(200, "fine"), read(), &[0.0]),
    ];
    for (answer, retries, starts) in cases {
        let service = Scripted::new([answer.clone()]);
        let sent = service.under(retries).oneshot(post("hello")).await.unwrap();
        assert_eq!(service.starts(), starts, "{answer:?}");
        // The part that was read is returned.
        let body = sent.into_body().collect().await.unwrap().to_bytes();
        let expected = match answer {
            Text(_, text) if starts.len() == 1 => text,
            _ => "hello",
        };
        assert_eq!(body, expected, "{answer:?}");
    }
    let recording = testing::record();
    send(&Scripted::new([Text(200, overloaded)]), read()).await.unwrap();
    assert!(recording.lines()[0].contains("error=200 OK: {\"type\":\"error\""), "{recording:?}");
}

#[tokio::test(start_paused = true)]
async fn only_the_start_of_a_long_body_is_read() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&seen);
    let retries = ClientRetries::new(POLICY).read_bodies(4).on(move |outcome| {
        let answer = outcome.unwrap();
        assert!(!answer.is_empty());
        recorded.lock().unwrap().push(answer.body().map(<[u8]>::to_vec));
        None
    });
    let service = Scripted::new([Text(500, "      and more")]);
    let answer = service.under(retries).oneshot(post("")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "      and more");
    assert_eq!(*seen.lock().unwrap(), [Some(b"    ".to_vec())]);
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_an_error_or_ends_the_call_with_its_last_response() {
    let rejection = async |service: &Scripted, retries: &ClientRetries| {
        let error = service.under(retries.clone()).oneshot(post("")).await.unwrap_err();
        *error.downcast::<Rejected>().unwrap()
    };
    let breaker = Arc::new(Breaker::new().consecutive_failures(2));
    let retries = ClientRetries::new(POLICY).breaker(Arc::clone(&breaker));
    let service = Scripted::new(vec![Status(503, &[]); 9]);
    let recording = testing::record();
    assert_eq!(send(&service, retries.clone()).await, Ok(503));
    assert_eq!(rejection(&service, &retries).await, Rejected::new(RejectedBy::Breaker));
    assert_eq!(service.starts(), [0.0, 1.0]);
    let lines = recording.lines();
    let ends = lines.iter().filter(|line| line.contains("reason=rejected"));
    assert_eq!(ends.count(), 2, "{lines:?}");

    // During the pause after a rejection.
    breaker.force_open();
    let stopped = Instant::now() + SECOND;
    let retries = ClientRetries::new(POLICY.rejected(Section::new().max(2).base(9 * SECOND)));
    let retries = retries.breaker(breaker).cancel(move || sleep_until(stopped));
    assert_eq!(rejection(&service, &retries).await, Rejected::new(RejectedBy::Cancelled));
    assert_eq!(Instant::now(), stopped);

    let limiter = RateLimiter::fixed(1, 10 * SECOND).max_wait(5 * SECOND);
    let retries = ClientRetries::new(POLICY).limiter(Arc::new(limiter));
    let service = Scripted::new([]);
    assert_eq!(send(&service, retries.clone()).await, Ok(200));
    assert_eq!(rejection(&service, &retries).await, Rejected::new(RejectedBy::Limiter));
    assert_eq!(service.starts().len(), 1);
}

/// `Other` is not a meaningful kind of I/O error.
#[tokio::test(start_paused = true)]
async fn an_error_of_an_unknown_type_is_not_a_healthy_response() {
    let with_on = |policy| ClientRetries::new(policy).on(classify);
    for retries in [ClientRetries::new, with_on] {
        let breaker = Arc::new(Breaker::new().consecutive_failures(1).open_for(SECOND));
        let once = retries(POLICY.max(0)).breaker(Arc::clone(&breaker));
        let service = Scripted::new([Status(503, &[]), Fails(ErrorKind::Other)]);
        assert_eq!(send(&service, once.clone()).await, Ok(503));
        advance(SECOND).await;
        assert!(send(&service, once).await.is_err());
        assert_eq!(Breaker::state(&breaker), BreakerState::HalfOpen);

        let budget = Arc::new(Budget::standard());
        let paid = retries(POLICY.max(1)).budget(Arc::clone(&budget));
        let failures = vec![Fails(ErrorKind::Other); 10];
        let service = Scripted::new([vec![Status(503, &[]); 2], failures].concat());
        assert_eq!(send(&service, paid.clone()).await, Ok(503));
        for _ in 0..10 {
            assert!(send(&service, paid.clone()).await.is_err());
        }
        assert_eq!(budget.available().to_string(), "486");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_its_pause_and_its_wait() {
    let end = Instant::now() + Duration::from_millis(2500);
    let retries = ClientRetries::new(POLICY).cancel(move || sleep_until(end));
    let service = Scripted::new(vec![Status(503, &[]); 9]);
    let recording = testing::record();
    assert_eq!(send(&service, retries).await, Ok(503));
    assert_eq!(service.starts(), [0.0, 1.0]);
    assert_eq!(Instant::now(), end);
    assert_eq!(
        recording.lines().last().unwrap(),
        "gave up POST api.example attempt=2 max=3 error=503 Service Unavailable reason=cancelled"
    );

    let end = end + Duration::from_millis(2500);
    let limiter = Arc::new(RateLimiter::fixed(1, 10 * SECOND));
    let retries = ClientRetries::new(POLICY).limiter(Arc::clone(&limiter));
    let cancelled = retries.clone().cancel(move || sleep_until(end));
    let service = Scripted::new([]);
    assert_eq!(send(&service, cancelled.clone()).await, Ok(200));
    let error = service.under(cancelled).oneshot(post("")).await.unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Rejected::new(RejectedBy::Cancelled)));
    assert_eq!(Instant::now(), end);
    // Its place in the queue is free again.
    assert_eq!(send(&service, retries).await, Ok(200));
    assert_eq!(service.starts(), [0.0, 10.0]);
}
