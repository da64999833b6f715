//! A policy for each request.

use Answer::{Never, Status};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use retry_clients::ClientRetries;
use retry_clients::tower::RetryLayer;
use support::prelude::*;
use tower::{Layer, Service, ServiceExt};

use super::plain::{Fault, Plain};
use super::scripted::{Answer, BoxError, Scripted};

/// 1 s, 2 s, 4 s.
const POLICY: Policy = Policy::new().jitter(Jitter::None);

/// One retry of a `POST`.
fn by_method(request: &Request<Full<Bytes>>, policy: &Policy) -> Policy {
    match *request.method() {
        Method::POST => policy.max(1),
        _ => *policy,
    }
}

fn request(method: &Method) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri("http://api.example/");
    request.body(Full::from("hello")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_layer_chooses_the_policy_by_the_method() {
    for (method, starts, last) in [
        (Method::GET, &[0.0, 1.0, 3.0, 7.0][..], "gave up GET api.example attempt=4 max=3"),
        (Method::POST, &[0.0, 1.0], "gave up POST api.example attempt=2 max=1"),
    ] {
        let service = Scripted::new(vec![Status(503, &[]); 4]);
        let recording = testing::record();
        let layer = RetryLayer::new(POLICY).policy_for(by_method).layer(service.clone());
        assert_eq!(layer.oneshot(request(&method)).await.unwrap().status(), 503);
        assert_eq!(service.starts(), starts);
        let lines = recording.lines();
        assert!(lines.last().unwrap().starts_with(last), "{lines:?}");
    }
}

/// Also a chosen policy that is not made of the layer's policy.
#[tokio::test(start_paused = true)]
async fn delays_and_time_limits_are_those_of_the_chosen_policy() {
    const LIMIT: Duration = Duration::from_secs(5);
    let chosen = POLICY.max(1).base(Duration::from_secs(10)).timeout(LIMIT);
    let began = Instant::now();
    let service = Scripted::new([Never, Never]);
    let layer = RetryLayer::new(ClientRetries::new(Policy::none()));
    let layer = layer.policy_for(move |_: &Request<Full<Bytes>>, _| chosen);
    let failed = layer.layer(service.clone()).oneshot(request(&Method::GET)).await;
    let failed: BoxError = failed.unwrap_err();
    assert_eq!(failed.downcast_ref(), Some(&TimedOut::new(LIMIT)));
    assert_eq!(began.elapsed(), 2 * LIMIT + Duration::from_secs(10));

    let deadline = POLICY.deadline(Duration::from_secs(2));
    let service = Scripted::new(vec![Status(503, &[]); 4]);
    let layer = RetryLayer::new(POLICY);
    let layer = layer.policy_for(move |_: &Request<Full<Bytes>>, _| deadline);
    layer.layer(service.clone()).oneshot(request(&Method::GET)).await.unwrap();
    assert_eq!(service.starts(), [0.0, 1.0]);
}

/// The function gets the request of the first attempt, once for each call.
#[tokio::test(start_paused = true)]
async fn a_layer_of_clones_chooses_the_policy_by_the_request() {
    let on = |outcome: Result<&&str, &Fault>| outcome.err().map(|_| Verdict::TRANSIENT);
    let by_text = |text: &String, policy: &Policy| policy.max(u32::from(text == "patient"));
    for (text, requests) in [("patient", &["patient", "changed"][..]), ("hasty", &["hasty"])] {
        let service = Plain::failing(["busy", "busy"]);
        let layer = RetryLayer::cloning(POLICY, on).policy_for(by_text).before_retry(
            |request: &mut String, _: Result<&&'static str, &Fault>, _| {
                *request = String::from("changed");
                Box::pin(async { Ok(()) })
            },
        );
        let called = layer.layer(service.clone()).oneshot(String::from(text)).await;
        assert_eq!(called, Err(Fault("busy")));
        assert_eq!(service.requests(), requests);
    }
}

/// The service has no error to return after a timeout.
#[tokio::test(start_paused = true)]
async fn a_layer_of_clones_ignores_the_chosen_timeout() {
    let on = |_: Result<&&str, &Fault>| None;
    let timed = |_: &String, policy: &Policy| policy.timeout(Duration::ZERO);
    let mut service = RetryLayer::cloning(POLICY, on).policy_for(timed).layer(Plain::new([]));
    assert_eq!(service.call(String::from("ask")).await, Ok("hello"));
}

#[cfg(feature = "reqwest_middleware")]
#[tokio::test]
async fn a_middleware_chooses_the_policy_by_the_method() {
    use reqwest_0_13::{Client, retry};
    use reqwest_middleware::ClientBuilder;
    use retry_clients::reqwest_middleware::RetryMiddleware;
    use support::scripted::{Server, answer};

    let _skipped = testing::skip_sleeps();
    for (method, requests) in [(Method::GET, 4), (Method::POST, 2)] {
        let server = Server::start(vec![answer(503, "no"); 4]);
        let retries =
            RetryMiddleware::new(POLICY).policy_for(|request, policy| match *request.method() {
                Method::POST => policy.max(1),
                _ => *policy,
            });
        let client = Client::builder().retry(retry::never()).build().unwrap();
        let client = ClientBuilder::new(client).with(retries).build();
        let answered = client.request(method, &server.url).send().await.unwrap();
        assert_eq!((server.requests(), answered.status().as_u16()), (requests, 503));
    }
}
