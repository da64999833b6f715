//! octocrab over hyper-util's client under one layer.

use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use retry_clients::tower::RetryLayer;
use retry_runtime::Policy;
use support::scripted::Server;
use tower::Layer;

use super::real;

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
    real::check(NO, "{}", async |server| {
        client(server).get::<serde_json::Value, _, ()>("/zen", None).await.is_ok()
    })
    .await;
    let issue = serde_json::json!({ "title": "it fails" });
    real::check(NO, "{}", async |server| {
        client(server).post::<_, serde_json::Value>("/issues", Some(&issue)).await.is_ok()
    })
    .await;
}
