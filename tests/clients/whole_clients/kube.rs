//! kube's client, including its authentication and other layers, under one retry layer.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Config;
use kube::api::{Api, PostParams};
use kube::client::ClientBuilder;
use retry_clients::kube::without_retries;
use retry_clients::tower::RetryLayer;
use retry_runtime::Policy;
use support::scripted::Server;
use tower::buffer::BufferLayer;

use super::real;

const FOUND: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"}}"#;

fn settings(server: &Server) -> Api<ConfigMap> {
    let config = without_retries(Config::new(server.url.parse().unwrap()));
    // kube's own service can't be cloned.
    let client = ClientBuilder::try_from(config).unwrap();
    let client = client.with_layer(&BufferLayer::new(64));
    let client = client.with_layer(&RetryLayer::new(Policy::new())).build();
    Api::namespaced(client, "default")
}

#[tokio::test]
async fn reads_and_writes() {
    real::check("{}", FOUND, async |server| settings(server).get("settings").await.is_ok()).await;
    real::check("{}", FOUND, async |server| {
        let (parameters, new) = (PostParams::default(), ConfigMap::default());
        settings(server).create(&parameters, &new).await.is_ok()
    })
    .await;
}
