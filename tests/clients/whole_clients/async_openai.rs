//! async-openai's client, through its HTTP service.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::middleware::ReqwestService;
use reqwest_0_13 as reqwest;
use retry_clients::ClientRetries;
use retry_clients::async_openai::OneRequest;
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, testing};
use support::scripted::{Server, answer};
use tower::Layer;

use super::real;
use crate::async_openai::{HELLO, request};

const UNPAID: &str = r#"{"error":{"message":"pay","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#;
const BUSY: &str = r#"{"error":{"message":"busy","type":"server_error","param":null,"code":null}}"#;

fn client(server: &Server, of_refusals: bool) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new();
    let config = config.with_api_base(&server.url).with_api_key("none");
    let http = reqwest::Client::builder().retry(reqwest::retry::never());
    let http = http.build().unwrap();
    let client = Client::with_config(config);
    if of_refusals {
        return client
            .with_http_service(RetryLayer::new(Policy::new()).layer(OneRequest::new(http)));
    }
    let retries = ClientRetries::new(Policy::new()).read_bodies(16 * 1024);
    client.with_http_service(RetryLayer::new(retries).layer(ReqwestService::new(http)))
}

/// Returns true if the call succeeds.
async fn chat(server: &Server, of_refusals: bool) -> bool {
    client(server, of_refusals).chat().create(request("m", "hi")).await.is_ok()
}

/// Over the client's own service, and over one that makes errors of refusals.
#[tokio::test]
async fn chats() {
    for of_refusals in [false, true] {
        real::check(BUSY, HELLO, async |server| chat(server, of_refusals).await).await;
        let _skipped = testing::skip_sleeps();
        let server = Server::start([answer(429, UNPAID)]);
        assert!(!chat(&server, of_refusals).await);
        assert_eq!(server.requests(), 1);
    }
}

/// An error within a 200, read before it counts as a success.
#[tokio::test]
async fn an_error_within_a_success() {
    let _skipped = testing::skip_sleeps();
    let overloaded = r#"{"error":{"message":"busy","type":"overloaded_error"}}"#;
    let server = Server::start([answer(200, overloaded), answer(200, HELLO)]);
    assert!(chat(&server, false).await);
    assert_eq!(server.requests(), 2);
}
