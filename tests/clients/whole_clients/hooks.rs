//! Hooks between the attempts of HTTP requests, and after the last attempt.

use std::io::ErrorKind;
use std::sync::atomic::Ordering::Relaxed;

use Answer::{Fails, Status};
use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use retry_clients::ClientRetries;
use retry_clients::http::{Outcome, PeekedBody, RetryCount, classify};
use retry_clients::tower::{GaveUp, RetryLayer};
use support::prelude::*;
use tower::{Layer, ServiceExt, service_fn};

use super::scripted::{Answer, BoxError, Scripted, post};

type Answered = Response<PeekedBody<Full<Bytes>>>;
/// Can be read only once, and is recorded.
type Once = UnsyncBoxBody<Bytes, BoxError>;

const POLICY: Policy = Policy::new().jitter(Jitter::None);

/// Changes stay for the retries that follow, which send the whole recorded body.
#[tokio::test(start_paused = true)]
async fn a_hook_puts_a_new_token_into_the_request() {
    let expired = |outcome: Outcome<'_>| match outcome {
        Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => Some(Verdict::TRANSIENT),
        outcome => classify(outcome),
    };
    let service = Scripted::new([Status(401, &[]), Status(503, &[]), Status(503, &[])]);
    let layer = RetryLayer::new(ClientRetries::new(POLICY).on(expired)).before_retry(
        |request: &mut Request<Once>, outcome: Result<&Answered, &BoxError>, _| {
            let is_expired = outcome.is_ok_and(|answer| answer.status() == 401);
            Box::pin(async move {
                if is_expired {
                    request.headers_mut().insert("authorization", "new".parse()?);
                }
                Ok(())
            })
        },
    );
    let request = Request::post("http://api.example/").header("authorization", "old");
    let answer = layer.layer(service.clone()).oneshot(request.body(once("hello")).unwrap());
    assert_eq!(answer.await.unwrap().status(), 200);
    let tokens: Vec<_> = service
        .received()
        .into_iter()
        .map(|request| (request.headers["authorization"].clone(), request.body))
        .collect();
    let expected = ["old", "new", "new", "new"].map(|token| (token, "hello"));
    assert_eq!(tokens, expected.map(|(token, body)| (token.parse().unwrap(), body.into())));
}

/// However often it is sent, read or not, it is recorded once.
#[tokio::test(start_paused = true)]
async fn a_recorded_body_supports_any_number_of_retries() {
    const POLICY: Policy = Policy::none().max(3000);
    let fallback = RetryLayer::new(POLICY).fallback(
        |_: Option<Request<Once>>, gave_up: GaveUp<Answered, BoxError>| {
            Box::pin(async { gave_up.outcome })
        },
    );
    let hook = RetryLayer::new(POLICY).before_retry(
        |_: &mut Request<Once>, _: Result<&Answered, &BoxError>, _| Box::pin(async { Ok(()) }),
    );
    let service = || {
        let busy = Arc::new(AtomicU32::new(3000));
        service_fn(move |request: Request<Once>| {
            let take = |left: u32| left.checked_sub(1);
            let is_busy = busy.fetch_update(Relaxed, Relaxed, take).is_ok();
            async move {
                if is_busy {
                    let busy = Response::builder().status(503);
                    return Ok(busy.body(Full::default())?);
                }
                let body = request.into_body().collect().await?.to_bytes();
                Ok::<_, BoxError>(Response::new(Full::from(body)))
            }
        })
    };
    let request = || Request::post("http://api.example/").body(once("hello")).unwrap();
    let answers = [
        fallback.layer(service()).oneshot(request()).await,
        hook.layer(service()).oneshot(request()).await,
    ];
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.extensions().get(), Some(&RetryCount(3000)));
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "hello");
    }
}

fn once(body: &'static str) -> Once {
    Full::from(body).map_err(BoxError::from).boxed_unsync()
}

#[tokio::test(start_paused = true)]
async fn a_call_keeps_the_name_of_its_first_request() {
    let service = Scripted::new([Status(503, &[]), Status(503, &[])]);
    let layer = RetryLayer::new(POLICY).before_retry(
        |request: &mut Request<Once>, _: Result<&Answered, &BoxError>, _| {
            *request.uri_mut() = Uri::from_static("http://other.example/");
            Box::pin(async { Ok(()) })
        },
    );
    let recording = testing::record();
    let request = Request::post("http://api.example/").body(once("hello"));
    let answer = layer.layer(service).oneshot(request.unwrap()).await;
    assert_eq!(answer.unwrap().status(), 200);
    let lines = recording.lines();
    assert_eq!(lines.len(), 3);
    let is_first = |line: &String| line.contains(" POST api.example attempt=");
    assert!(lines.iter().all(is_first), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_response_contains_the_number_of_retries() {
    let cases: [(&[Answer], u16, Option<u32>); 6] = [
        (&[], 200, None),
        (&[Status(404, &[])], 404, None),
        (&[Status(503, &[])], 200, Some(1)),
        (&[Status(503, &[]), Fails(ErrorKind::ConnectionReset)], 200, Some(2)),
        (&[Status(503, &[]), Status(404, &[])], 404, Some(1)),
        (&[Status(500, &[]), Status(500, &[]), Status(500, &[]), Status(503, &[])], 503, Some(3)),
    ];
    for (answers, status, retries) in cases {
        let service = Scripted::new(answers.iter().cloned());
        let answer = service.under(POLICY).oneshot(post("hello")).await.unwrap();
        let count = answer.extensions().get::<RetryCount>().map(|count| count.0);
        assert_eq!((answer.status().as_u16(), count), (status, retries), "{answers:?}");
    }
}

/// A non-retryable response is returned only by a layer without a fallback.
#[tokio::test(start_paused = true)]
async fn a_fallback_replaces_a_response_or_an_error_at_once_or_after_retries() {
    let cases: [(&[Answer], &str); 4] = [
        (&[], "none"),
        (&[Status(404, &[])], "404 after 1: not retryable"),
        (&[Status(503, &[]), Status(404, &[])], "404 after 2: not retryable"),
        (&vec![Fails(ErrorKind::ConnectionReset); 4], "connection reset after 4: exhausted"),
    ];
    for (answers, expected) in cases {
        let layer = RetryLayer::new(POLICY).fallback(
            |_: Option<Request<Full<Bytes>>>, gave_up: GaveUp<Answered, BoxError>| {
                let outcome = match gave_up.outcome {
                    Ok(answer) => answer.status().as_str().to_owned(),
                    Err(error) => error.to_string(),
                };
                let (attempts, reason) = (gave_up.attempts, gave_up.reason);
                let text = format!("{outcome} after {attempts}: {reason}");
                Box::pin(async { Err(text.into()) })
            },
        );
        let service = Scripted::new(answers.iter().cloned());
        let answer = layer.layer(service).oneshot(post("hello")).await;
        let replacement = answer.map_or_else(|error| error.to_string(), |_| String::from("none"));
        assert_eq!(replacement, expected);
    }
}

/// It can respond from a cache, even though the error doesn't contain the request.
#[tokio::test(start_paused = true)]
async fn a_fallback_gets_the_request() {
    let opened = Breaker::new();
    opened.force_open();
    let retries = ClientRetries::new(POLICY.max(1));
    for (retries, answers, expected) in [
        (retries.clone().breaker(opened), 0, Some("hello")),
        (retries.clone(), 2, Some("hello")),
        (retries.record_bodies(2), 1, None),
    ] {
        let layer = RetryLayer::new(retries).fallback(
            |request: Option<Request<Once>>, gave_up: GaveUp<Answered, BoxError>| {
                Box::pin(async {
                    let Some(request) = request else {
                        return gave_up.outcome;
                    };
                    assert_eq!(request.uri().path(), "/page");
                    let body = request.into_body().collect().await?.to_bytes();
                    Ok(Response::new(PeekedBody::new(Full::from(body))))
                })
            },
        );
        let service = Scripted::new(vec![Fails(ErrorKind::ConnectionReset); 2]);
        let request = Request::post("http://api.example/page").body(once("hello"));
        let outcome = layer.layer(service.clone()).oneshot(request.unwrap()).await;
        let body = match outcome {
            Ok(answer) => Some(answer.into_body().collect().await.unwrap().to_bytes()),
            Err(_) => None,
        };
        assert_eq!(body, expected.map(Bytes::from));
        assert_eq!(service.received().len(), answers);
    }
}
