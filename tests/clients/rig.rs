//! rig: failures as its clients report them, classified and counted.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest_0_13 as reqwest;
use retry_clients::rig::classify;
use rig_core::DynModel;
use rig_core::completion::{CompletionRequest, CompletionResponse};
use rig_core::error::{ErrorKind, ErrorReport, ProviderError};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::AnthropicConfig;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::streaming::{Item, StreamEvent};
use rig_reqwest::ReqwestClient;
use support::check_rows;
use support::openai_refusals;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, broken_events, closed, cut, events};
use support::verdicts::BROKEN;

const HELLO: &str = r#"{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,
    "finish_reason":"stop","message":{"role":"assistant","content":"hello"}}],
    "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
const CHUNK: &str = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}"#;
const LAST: &str = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]";
const EXHAUSTED: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#;
const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;

fn refused(kind: &str) -> String {
    format!(r#"{{"error":{{"message":"no","type":"{kind}","code":null}}}}"#)
}

struct Model(DynModel<Completion>);

fn http() -> ReqwestClient {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(1));
    ReqwestClient::from(http.build().unwrap())
}

impl Model {
    fn at(url: &str) -> Self {
        let config = OpenAIConfig::new("none").with_base_url(url);
        Self(config.connect(http()).chat("m").erase())
    }

    fn of_anthropic(url: &str) -> Self {
        let config = AnthropicConfig::new("none").with_base_url(url);
        Self(config.connect(http()).completion("claude-m").erase())
    }

    fn request() -> CompletionRequest {
        CompletionRequest::new("hi").max_tokens(9)
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn ask(&self) -> Result<CompletionResponse, ProviderError> {
        self.0.call(Self::request()).await
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn items(
        &self,
    ) -> Result<BoxStream<'static, Result<Item<StreamEvent>, ProviderError>>, ProviderError> {
        Ok(self.0.stream(Self::request())?.boxed())
    }
}

/// Both of a call and of a stream.
async fn check(answer: Answer, expected: Verdict) {
    check_call(answer.clone(), expected).await;
    check_stream(answer, expected).await;
}

async fn check_call(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).ask().await).await;
}

async fn check_stream(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).items().await).await;
}

#[tokio::test]
async fn answers() {
    // rig itself takes 501 and 505 for transient.
    for (answer, verdict) in openai_refusals::all(refused) {
        check(answer, verdict).await;
    }
    check_rows! { check:
        [429] EXHAUSTED => Verdict::THROTTLED,
        closed() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        Answer::Absent => Verdict::TRANSIENT,
    }
    check_rows! { check_call:
        cut() => BROKEN,
        [200] &refused("server_error") => BROKEN,
        [200] &refused("insufficient_quota") => Verdict::STOP,
        [200] &refused("invalid_request_error") => Verdict::STOP,
        [200] "no JSON" => Verdict::STOP,
    }
    let busy = format!("data: {}", refused("server_error"));
    check_rows! { check_stream:
        broken_events(&[CHUNK]) => BROKEN,
        events(&[CHUNK]) => BROKEN,
        events(&[]) => BROKEN,
        events(&[CHUNK, &busy]) => BROKEN,
        events(&[CHUNK, "data: {"]) => Verdict::STOP,
    }
}

#[tokio::test]
async fn anthropic() {
    let event = format!("event: error\ndata: {OVERLOADED}");
    for answer in [answer(529, OVERLOADED), events(&[&event])] {
        let call = async |url: &str| Model::of_anthropic(url).items().await;
        scripted::check(answer, BROKEN, classify, call).await;
    }
}

#[tokio::test]
async fn a_call_ends_with_its_first_success() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, ""), answer(200, HELLO)]);
    Model::at(&server.url).ask().await.unwrap();
    assert_eq!(server.requests(), 2);

    let answers = [events(&[CHUNK]), answer(503, ""), events(&[CHUNK, LAST, DONE])];
    let server = Server::start(answers);
    let items: Vec<_> = Model::at(&server.url).items().await.unwrap().collect().await;
    assert!(items.iter().all(Result::is_ok), "{items:?}");
    assert_eq!(server.requests(), 3);
}

/// An error from rig's effect bus has the same verdict as the report.
#[test]
fn relayed_errors_have_the_verdict_of_the_report() {
    let relayed = |kind, retryable| {
        let mut report = ErrorReport::new(kind, "no");
        report.retryable = retryable;
        classify(&ProviderError::Relayed(Box::new(report)))
    };
    assert_eq!(relayed(ErrorKind::Timeout, true), Verdict::TIMEOUT);
    assert_eq!(relayed(ErrorKind::Timeout, false), Verdict::STOP);
    assert_eq!(relayed(ErrorKind::Http, true), BROKEN);
    assert_eq!(relayed(ErrorKind::Denied, false), Verdict::STOP);

    let answered = ProviderError::from_http_response(http::StatusCode::TOO_MANY_REQUESTS, "{}");
    let report = ErrorReport::from(&answered);
    assert_eq!(classify(&ProviderError::Relayed(Box::new(report))), Verdict::THROTTLED);
}
