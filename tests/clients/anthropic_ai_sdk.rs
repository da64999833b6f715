//! anthropic-ai-sdk: failures as its client reports them, classified and counted.

use anthropic_ai_sdk::client::AnthropicClient;
use anthropic_ai_sdk::types::message::{
    CreateMessageParams, CreateMessageResponse, Message, MessageClient, MessageError, Role,
    StreamEvent,
};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use retry_clients::anthropic_ai_sdk::{classify, whole};
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, broken_events, closed, cut, events};
use support::verdicts::BROKEN;

const HELLO: &str = r#"{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],
    "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}";
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}";

fn refused(kind: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#)
}

fn error_event(kind: &str) -> String {
    format!("event: error\ndata: {}", refused(kind))
}

struct Model {
    client: AnthropicClient,
    message: CreateMessageParams,
}

impl Model {
    fn at(url: &str) -> Self {
        let client = AnthropicClient::builder("none", "2023-06-01").with_api_base_url(url);
        Self {
            client: client.build::<MessageError>().unwrap(),
            message: CreateMessageParams {
                max_tokens: 9,
                messages: vec![Message::new_text(Role::User, "hi")],
                model: String::from("m"),
                stream: Some(true),
                ..CreateMessageParams::default()
            },
        }
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn create(&self) -> Result<CreateMessageResponse, MessageError> {
        self.client.create_message(Some(&self.message)).await
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn events(
        &self,
    ) -> Result<BoxStream<'_, Result<StreamEvent, MessageError>>, MessageError> {
        Ok(whole(self.client.create_message_streaming(&self.message).await?).boxed())
    }
}

async fn check(answer: Answer, expected: Verdict) {
    check_call(answer.clone(), expected).await;
    check_stream(answer, expected).await;
}

async fn check_call(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).create().await).await;
}

async fn check_stream(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| {
        Model::at(url).events().await.map(drop)
    })
    .await;
}

#[tokio::test]
async fn answers() {
    // A limit that waiting doesn't lift has this in its details, with the type of a temporary one.
    let spent = r#"{"type":"error","error":{"type":"rate_limit_error","message":"no",
        "details":{"error_code":"enforced_spend_limit_reached"}}}"#;
    check_rows! { check:
        [500] &refused("api_error") => BROKEN,
        [529] &refused("overloaded_error") => BROKEN,
        [504] &refused("timeout_error") => Verdict::TIMEOUT,
        [429] &refused("rate_limit_error") => Verdict::THROTTLED,
        [400] &refused("invalid_request_error") => Verdict::STOP,
        [401] &refused("authentication_error") => Verdict::STOP,
        [402] &refused("billing_error") => Verdict::STOP,
        [403] &refused("permission_error") => Verdict::STOP,
        [404] &refused("not_found_error") => Verdict::STOP,
        [413] &refused("request_too_large") => Verdict::STOP,
        [429] &refused("enforced_spend_limit_reached") => Verdict::STOP,
        [429] spent => Verdict::STOP,
        [502] "<html>Bad gateway</html>" => Verdict::STOP,
        [503] "" => Verdict::STOP,
        closed() => BROKEN,
        Answer::Absent => BROKEN,
    }
    check_rows! { check_call:
        cut() => BROKEN,
        [200] "no JSON" => Verdict::STOP,
    }
    let error = Model::at("no address").create().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::STOP, "{error:?}");
}

#[tokio::test]
async fn streams() {
    check_rows! { check_stream:
        broken_events(&[PING]) => BROKEN,
        events(&[PING]) => BROKEN,
        events(&[]) => BROKEN,
        events(&[PING, "data: {"]) => Verdict::STOP,
        events(&[PING, &error_event("overloaded_error")]) => BROKEN,
        events(&[PING, &error_event("rate_limit_error")]) => Verdict::THROTTLED,
        events(&[PING, &error_event("invalid_request_error")]) => Verdict::STOP,
    }
}

#[tokio::test]
async fn a_call_ends_with_its_first_success() {
    let _skipped = testing::skip_sleeps();
    let busy = || answer(529, &refused("overloaded_error"));
    let server = Server::start([busy(), answer(200, HELLO)]);
    Model::at(&server.url).create().await.unwrap();
    assert_eq!(server.requests(), 2);

    let server = Server::start([busy(), events(&[PING]), events(&[PING, STOP])]);
    let events: Vec<_> = Model::at(&server.url).events().await.unwrap().collect().await;
    assert_eq!(server.requests(), 3);
    assert!(matches!(events[..], [Ok(StreamEvent::Ping), Ok(StreamEvent::MessageStop)]));
}

/// The end of a stream is reported once.
#[tokio::test]
async fn a_broken_stream_is_not_also_reported_as_truncated() {
    let broken = MessageError::RequestFailed(String::from("Transport error"));
    let events = whole(stream::iter([Ok(StreamEvent::Ping), Err(broken)]));
    let events: Vec<_> = events.collect().await;
    assert!(matches!(events[..], [Ok(StreamEvent::Ping), Err(_)]), "{events:?}");

    let cut_off = whole(stream::iter([Ok(StreamEvent::Ping)]));
    let events: Vec<_> = cut_off.collect().await;
    assert!(matches!(events[..], [Ok(StreamEvent::Ping), Err(_)]), "{events:?}");
}
