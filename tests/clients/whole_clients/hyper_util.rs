//! hyper-util's client, retried as a whole, with recorded bodies.

use bytes::Bytes;
use http::Request;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, testing};
use support::scripted::{Server, answer, broken_events, closed_port};
use tower::{Layer, ServiceExt};

use super::real;
use super::scripted::BoxError;

#[tokio::test]
async fn statuses_and_connections() {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let client = RetryLayer::new(Policy::new()).layer(client);
    real::check("no", "yes", async |server| {
        let request = Request::post(&server.url).body(Full::from("hello")).unwrap();
        let answered = client.clone().oneshot(request).await.unwrap();
        let is_success = answered.status().is_success();
        let body = answered.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, if is_success { "yes" } else { "no" });
        is_success
    })
    .await;
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let request = Request::get(closed_port()).body(Full::from("")).unwrap();
    client.clone().oneshot(request).await.unwrap_err();
    assert_eq!(recording.delays().len(), 3);
}

/// A body that breaks after its head was handed on is the caller's to see.
#[tokio::test]
async fn a_body_is_streamed_unchanged() {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let client = RetryLayer::new(Policy::new()).layer(client);
    let server = Server::start([broken_events(&["data: 1"])]);
    let request = Request::get(&server.url).body(Full::from("")).unwrap();
    let mut body = client.oneshot(request).await.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "data: 1\n\n");
    body.frame().await.unwrap().unwrap_err();
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_stream_is_recorded_and_its_length_sent() {
    let _skipped = testing::skip_sleeps();
    let client = Client::builder(TokioExecutor::new());
    let client = client.build_http::<UnsyncBoxBody<Bytes, BoxError>>();
    let client = RetryLayer::new(Policy::new()).layer(client);
    // The server reads as many bytes as `Content-Length`.
    let server = Server::start([answer(503, "no"), answer(200, "yes")]);
    let body = Full::from("hello").map_err(BoxError::from).boxed_unsync();
    let request = Request::post(&server.url).body(body).unwrap();
    let answered = client.oneshot(request).await.unwrap();
    assert_eq!((server.requests(), answered.status().as_u16()), (2, 200));
}
