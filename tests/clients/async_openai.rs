//! async-openai: failures as its client reports them, classified and counted.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest, CreateChatCompletionResponse,
    CreateChatCompletionStreamResponse,
};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest_0_13 as reqwest;
use retry_clients::async_openai::{OneRequest, api_error, classify, client_without_retries, whole};
use support::check_rows;
use support::openai_refusals;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, answer_with, broken_events, closed, cut, events};
use support::verdicts::BROKEN;

pub(crate) const HELLO: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,
    "finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]}"#;
const CHUNK: &str = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}"#;
const LAST: &str = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;
const OVERLOADED_EVENT: &str =
    r#"data: {"error":{"message":"busy","type":"server_error","param":null,"code":null}}"#;

fn refused(kind: &str, code: &str) -> String {
    format!(r#"{{"error":{{"message":"no","type":"{kind}","param":null,"code":"{code}"}}}}"#)
}

pub(crate) fn request(model: &str, prompt: &str) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: String::from(model),
        messages: vec![ChatCompletionRequestUserMessage::from(prompt).into()],
        ..CreateChatCompletionRequest::default()
    }
}

type Chunk = CreateChatCompletionStreamResponse;

struct Model(Client<OpenAIConfig>);

impl Model {
    fn at(url: &str) -> Self {
        let config = OpenAIConfig::new().with_api_base(url).with_api_key("none");
        Self(client_without_retries(config))
    }

    fn impatient(url: &str) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_millis(300));
        let Self(client) = Self::at(url);
        Self(client.with_http_service(OneRequest::new(http.build().unwrap())))
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn create(&self) -> Result<CreateChatCompletionResponse, OpenAIError> {
        self.0.chat().create(request("m", "hi")).await
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn stream(&self) -> Result<BoxStream<'static, Result<Chunk, OpenAIError>>, OpenAIError> {
        let chunks = self.0.chat().create_stream(request("m", "hi")).await?;
        let is_last =
            |chunk: &Chunk| chunk.choices.iter().any(|choice| choice.finish_reason.is_some());
        Ok(whole(chunks, is_last).boxed())
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).create().await).await;
}

#[tokio::test]
async fn answers() {
    let refused_so = |kind: &str| refused(kind, "c");
    for (answer, verdict) in openai_refusals::statuses(refused_so) {
        check(answer, verdict).await;
    }
    for (answer, verdict) in openai_refusals::headers(refused_so) {
        check(answer, verdict).await;
    }
    for code in [
        "insufficient_quota",
        "credit_balance_exhausted",
        "project_spend_limit_exceeded",
        "daily_usage_limit_exceeded",
    ] {
        check_rows! { check:
            [429] &refused("requests", code) => Verdict::STOP,
            [429] &refused(code, "c") => Verdict::STOP,
        }
    }
    let asked = [("retry-after", "2")];
    let limited = refused("requests", "rate_limit_exceeded");
    check_rows! { check:
        [408, 500, 503, 504, 529] "<html>" => BROKEN,
        [425] "<html>" => Verdict::TRANSIENT,
        [422] &refused("server_error", "c") => Verdict::STOP,
        [429] &limited => Verdict::THROTTLED,
        [429] &refused("requests", "slow_down") => Verdict::THROTTLED,
        [429] &refused("requests", "anything") => Verdict::THROTTLED,
        [400] &refused("slow_down", "c") => Verdict::THROTTLED,
        answer_with(429, &asked, &refused("insufficient_quota", "c")) => Verdict::STOP,
        answer_with(429, &asked, "no JSON") => Verdict::THROTTLED.after(Duration::from_secs(2)),
        answer_with(409, &[("x-should-retry", "true")], &limited) => Verdict::TRANSIENT,
        closed() => BROKEN,
        cut() => BROKEN,
        [200] "no JSON" => Verdict::STOP,
        Answer::Absent => Verdict::TRANSIENT,
        // Some gateways return 200 and an error, some of them with the status as a number.
        [200] OVERLOADED_EVENT.trim_start_matches("data: ") => BROKEN,
        [200] r#"{"error":{"message":"m","code":429}}"# => Verdict::THROTTLED,
        [200] r#"{"error":{"message":"m","code":400}}"# => Verdict::STOP,
    }
    let impatient = async |url: &str| Model::impatient(url).create().await;
    scripted::check(Answer::Nothing, Verdict::TIMEOUT, classify, impatient).await;
    let error = OpenAIError::InvalidArgument(String::from("no messages"));
    assert_eq!(classify(&error), Verdict::STOP);
}

#[tokio::test]
async fn hints_are_honored_and_the_response_stays_readable() {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let throttled = answer_with(429, &[("retry-after", "3")], &refused("requests", "slow_down"));
    let server = Server::start([throttled]);
    let error = Model::at(&server.url).create().await.unwrap_err();
    assert_eq!(recording.delays(), [3, 3, 4].map(Duration::from_secs));
    let refusal = api_error(&error).unwrap();
    assert_eq!(refusal.status_code, 429);
    assert_eq!(refusal.api_error.code.as_deref(), Some("slow_down"));
    assert!(error.to_string().contains("429"), "{error}");

    // Only what headers ask for needs another variant than this.
    let server = Server::start([answer(429, &refused("insufficient_quota", "c"))]);
    let error = Model::at(&server.url).create().await.unwrap_err();
    assert!(matches!(error, OpenAIError::ApiError(_)), "{error:?}");
}

/// Only the explanation is truncated; the status is complete.
#[tokio::test]
async fn an_error_response_with_a_truncated_body_keeps_its_status() {
    let cut = |status: u16, headers: &str, body: &str| {
        Answer::Bytes(format!("HTTP/1.1 {status} -\r\ncontent-length: 9999\r\n{headers}\r\n{body}"))
    };
    check_rows! { check:
        cut(401, "", "{\"error\":") => Verdict::STOP,
        cut(503, "", "") => BROKEN,
        cut(429, "retry-after: 2\r\n", "slow") => Verdict::THROTTLED.after(Duration::from_secs(2)),
        cut(429, "", r#"{"error":{"code":"insufficient_quota","message":"You exc"#) => Verdict::STOP,
    }

    let server = Server::start([cut(401, "", "no key")]);
    let error = Model::at(&server.url).create().await.unwrap_err();
    let answer = api_error(&error).unwrap();
    assert_eq!(answer.status_code, 401);
    assert_eq!(answer.api_error.message, "no key");
}

#[tokio::test]
async fn the_start_of_an_enormous_error_body_is_kept() {
    let page = "<p>busy</p>".repeat(100_000);
    check(answer(502, &page), BROKEN).await;
    let server = Server::start([answer(400, &page)]);
    let error = Model::at(&server.url).create().await.unwrap_err();
    let kept = &api_error(&error).unwrap().api_error.message;
    assert!(page.starts_with(kept) && kept.len() < 20_000);
    check(answer(304, ""), Verdict::STOP).await;
}

/// The effect that the constructor prevents.
#[tokio::test]
async fn the_default_client_multiplies_requests() {
    let server = Server::start([answer_with(503, &[("retry-after", "0")], "busy")]);
    let config = OpenAIConfig::new().with_api_base(&server.url);
    let multiplied = Model(Client::with_config(config));
    let _skipped = testing::skip_sleeps();
    multiplied.create().await.unwrap_err();
    assert_eq!(server.requests(), 16);
}

async fn check_stream(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).stream().await).await;
}

#[tokio::test]
async fn streams() {
    check_rows! { check_stream:
        [503] "busy" => BROKEN,
        [429] &refused("insufficient_quota", "c") => Verdict::STOP,
        broken_events(&[CHUNK]) => BROKEN,
        events(&[CHUNK]) => BROKEN,
        events(&[]) => BROKEN,
        events(&[CHUNK, OVERLOADED_EVENT]) => BROKEN,
        events(&[CHUNK, "data: {"]) => Verdict::STOP,
    }
}

#[tokio::test]
async fn a_call_ends_with_its_first_success_and_a_stream_once_it_is_whole() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, ""), answer(200, HELLO)]);
    Model::at(&server.url).create().await.unwrap();
    assert_eq!(server.requests(), 2);

    let answers =
        [events(&[CHUNK]), broken_events(&[CHUNK, LAST]), events(&[CHUNK, LAST, "data: [DONE]"])];
    let server = Server::start(answers);
    let chunks: Vec<_> = Model::at(&server.url).stream().await.unwrap().collect().await;
    assert_eq!(server.requests(), 3);
    assert_eq!(chunks.len(), 2);
}
