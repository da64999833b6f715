//! async-openai's client, through its HTTP service.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::middleware::ReqwestService;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequest};
use reqwest_0_13 as reqwest;
use retry_clients::ClientRetries;
use retry_clients::async_openai::OneRequest;
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, testing};
use support::scripted::{Answer, Server, answer, answer_with, closed};
use tower::Layer;

const HELLO: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,
    "finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]}"#;
const UNPAID: &str = r#"{"error":{"message":"pay","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#;
const BUSY: &str = r#"{"error":{"message":"busy","type":"server_error","param":null,"code":null}}"#;

fn request() -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: String::from("m"),
        messages: vec![ChatCompletionRequestUserMessage::from("hi").into()],
        ..CreateChatCompletionRequest::default()
    }
}

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

/// Over the client's own service, and over one that makes errors of refusals.
#[tokio::test]
async fn chats() {
    let _skipped = testing::skip_sleeps();
    let hinted = || answer_with(429, &[("retry-after-ms", "500")], BUSY);
    let cases: [(Vec<Answer>, usize, bool); 4] = [
        (vec![answer(503, BUSY), hinted(), closed(), answer(200, HELLO)], 4, true),
        (vec![answer(429, UNPAID)], 1, false),
        (vec![answer(400, BUSY)], 1, false),
        (vec![answer(500, BUSY)], 4, false),
    ];
    for of_refusals in [false, true] {
        for (answers, requests, is_fine) in cases.clone() {
            let server = Server::start(answers.clone());
            let chat = client(&server, of_refusals).chat().create(request()).await;
            assert_eq!(
                (server.requests(), chat.is_ok()),
                (requests, is_fine),
                "{answers:?}: {chat:?}"
            );
        }
    }
}

/// An error within a 200, read before it counts as a success.
#[tokio::test]
async fn an_error_within_a_success() {
    let _skipped = testing::skip_sleeps();
    let overloaded = r#"{"error":{"message":"busy","type":"overloaded_error"}}"#;
    let server = Server::start([answer(200, overloaded), answer(200, HELLO)]);
    client(&server, false).chat().create(request()).await.unwrap();
    assert_eq!(server.requests(), 2);
}
