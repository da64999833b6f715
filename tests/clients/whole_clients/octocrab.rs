//! octocrab over hyper-util's client under one layer.

use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, testing};
use support::scripted::{Server, answer, answer_with, closed};
use tower::Layer;

const NO: &str = r#"{"message":"no","documentation_url":"https://docs.github.com"}"#;

fn client(server: &Server) -> Octocrab {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let client = RetryLayer::new(Policy::new()).layer(client);
    OctocrabBuilder::new_empty()
        .with_service(client)
        .with_layer(&BaseUriLayer::new(server.url.parse().unwrap()))
        .with_auth(AuthState::None)
        .build()
        .unwrap()
}

#[tokio::test]
async fn reads_and_writes() {
    let _skipped = testing::skip_sleeps();
    let hinted = answer_with(429, &[("retry-after", "1")], NO);
    let cases = [
        (vec![answer(503, NO), hinted, closed(), answer(200, "{}")], 4, true),
        (vec![answer(404, NO)], 1, false),
        (vec![answer(500, NO)], 4, false),
    ];
    for (answers, requests, is_fine) in cases {
        let server = Server::start(answers.clone());
        let read = client(&server).get::<serde_json::Value, _, ()>("/zen", None).await;
        assert_eq!((server.requests(), read.is_ok()), (requests, is_fine), "{read:?}");

        let server = Server::start(answers);
        let issue = serde_json::json!({ "title": "it fails" });
        let written = client(&server).post::<_, serde_json::Value>("/issues", Some(&issue)).await;
        assert_eq!((server.requests(), written.is_ok()), (requests, is_fine), "{written:?}");
    }
}
