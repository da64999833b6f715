//! kube's client, including its authentication and other layers, under one retry layer.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use kube::client::ClientBuilder;
use kube::{Client, Config};
use retry_clients::ClientRetries;
use retry_clients::kube::without_retries;
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, testing};
use support::scripted::{Answer, Server, answer, answer_with, closed};
use tower::buffer::BufferLayer;

const FOUND: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"}}"#;

fn client(server: &Server, retries: impl Into<ClientRetries>) -> Client {
    let config = without_retries(Config::new(server.url.parse().unwrap()));
    // kube's own service can't be cloned.
    let client = ClientBuilder::try_from(config).unwrap();
    let client = client.with_layer(&BufferLayer::new(64));
    client.with_layer(&RetryLayer::new(retries)).build()
}

#[tokio::test]
async fn reads_and_writes() {
    let _skipped = testing::skip_sleeps();
    let hinted = answer_with(429, &[("retry-after", "1")], "{}");
    let cases: [(Vec<Answer>, usize, bool); 3] = [
        (vec![answer(503, "{}"), hinted, closed(), answer(200, FOUND)], 4, true),
        (vec![answer(409, "{}")], 1, false),
        (vec![answer(500, "{}")], 4, false),
    ];
    for (answers, requests, is_found) in cases {
        let server = Server::start(answers.clone());
        let settings: Api<ConfigMap> = Api::namespaced(client(&server, Policy::new()), "default");
        assert_eq!(settings.get("settings").await.is_ok(), is_found);
        assert_eq!(server.requests(), requests);

        let server = Server::start(answers);
        let settings: Api<ConfigMap> = Api::namespaced(client(&server, Policy::new()), "default");
        let created = settings.create(&PostParams::default(), &ConfigMap::default()).await;
        assert_eq!((server.requests(), created.is_ok()), (requests, is_found));
    }
}

#[tokio::test]
async fn only_idempotent_requests_are_retried() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(500, "{}")]);
    let retries = ClientRetries::new(Policy::new()).idempotent_methods();
    let settings: Api<ConfigMap> = Api::namespaced(client(&server, retries), "default");
    let created = settings.create(&PostParams::default(), &ConfigMap::default()).await;
    assert!(created.is_err());
    assert_eq!(server.requests(), 1);
    assert!(settings.get("settings").await.is_err());
    assert_eq!(server.requests(), 5);
}
