//! genai: failures as its client gives them, classified and counted.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatResponse, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::webc::StreamTimeout;
use genai::{Client, Error, ModelIden, ServiceTarget};
use reqwest_0_13 as reqwest;
use retry_clients::genai::{classify, whole};
use retry_runtime::{Verdict, retry, testing};

use support::openai_refusals;
use support::scripted::{
    self, Answer, Server, answer, answer_with, broken_events, closed, closed_port, cut, events,
    stalling_events,
};
use support::verdicts::BROKEN;

const HELLO: &str = r#"{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]}"#;
const CHUNK: &str =
    r#"data: {"model":"m","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}"#;
const LAST: &str = r#"data: {"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]";
const ERROR_EVENT: &str = r#"data: {"error":{"message":"busy","type":"server_error"}}"#;
const DAILY: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
    "violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}"#;
const EXHAUSTED: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#;
const GOOGLE_HINT: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
    {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.5s"}]}}"#;

fn refused(kind: &str) -> String {
    format!(r#"{{"error":{{"message":"no","type":"{kind}"}}}}"#)
}

struct Model {
    client: Client,
    target: ServiceTarget,
}

impl Model {
    fn of(adapter: AdapterKind, url: &str) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(1));
        Self {
            client: Client::builder()
                .with_reqwest(http.build().unwrap())
                .build()
                .unwrap(),
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(format!("{url}/v1/")),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(adapter, "m"),
            },
        }
    }

    fn at(url: &str) -> Self {
        Self::of(AdapterKind::OpenAI, url)
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn chat(&self) -> Result<ChatResponse, Error> {
        let request = ChatRequest::from_user("hi");
        self.client
            .exec_chat(self.target.clone(), request, None)
            .await
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn events(&self) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        let request = ChatRequest::from_user("hi");
        let answer = self
            .client
            .exec_chat_stream(self.target.clone(), request, None)
            .await?;
        Ok(whole(answer).boxed())
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "first")]
    async fn first_events(
        &self,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        let request = ChatRequest::from_user("hi");
        let answer = self
            .client
            .exec_chat_stream(self.target.clone(), request, None)
            .await?;
        Ok(whole(answer).boxed())
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer.clone(), expected, classify, async |url| {
        Model::at(url).chat().await
    })
    .await;

    // A stream sends its request only when it is polled, and gets the same response.
    scripted::check(answer, expected, classify, async |url| {
        Model::at(url).events().await
    })
    .await;
}

#[tokio::test]
async fn statuses() {
    for (answer, verdict) in openai_refusals::statuses(refused) {
        check(answer, verdict).await;
    }
}

#[tokio::test]
async fn throttling_and_limits() {
    for (answer, verdict) in openai_refusals::limits(refused) {
        check(answer, verdict).await;
    }
    check(answer(429, DAILY), Verdict::STOP).await;
    check(answer(429, EXHAUSTED), Verdict::THROTTLED).await;
    check(
        answer_with(429, &[("retry-after", "2")], EXHAUSTED),
        Verdict::THROTTLED.after(Duration::from_secs(2)),
    )
    .await;
    let hint = Duration::from_millis(2500);
    check(answer(429, GOOGLE_HINT), Verdict::THROTTLED.after(hint)).await;
    check(
        answer(429, &format!("[{GOOGLE_HINT}]")),
        Verdict::THROTTLED.after(hint),
    )
    .await;
}

#[tokio::test]
async fn headers() {
    for (answer, verdict) in openai_refusals::headers(refused) {
        check(answer, verdict).await;
    }
    let hint = Verdict::THROTTLED.after(Duration::from_secs(2));
    check(answer_with(429, &[("retry-after", "2")], GOOGLE_HINT), hint).await;
}

#[tokio::test]
async fn transport() {
    check(closed(), BROKEN).await;
    let _skipped = testing::skip_sleeps();
    let model = Model::at(&closed_port());
    let error = model.chat().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::TRANSIENT, "{error:?}");
    let error = model.events().await.err().unwrap();
    assert_eq!(classify(&error), Verdict::TRANSIENT, "{error:?}");

    let server = Server::start([cut()]);
    let error = Model::at(&server.url).chat().await.unwrap_err();
    assert_eq!(classify(&error), BROKEN, "{error:?}");
    server.assert_attempts(BROKEN);
}

#[tokio::test]
async fn no_answer_in_time() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([Answer::Nothing]);
    let error = Model::at(&server.url).chat().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::TIMEOUT, "{error:?}");
    server.assert_attempts(Verdict::TIMEOUT);
}

#[tokio::test]
async fn permanent_failures_stop() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(200, "no JSON")]);
    let error = Model::at(&server.url).chat().await.unwrap_err();
    assert_eq!(classify(&error), Verdict::STOP, "{error:?}");
    server.assert_attempts(Verdict::STOP);

    let error = Error::RequiresApiKey {
        model_iden: ModelIden::new(AdapterKind::OpenAI, "m"),
    };
    assert_eq!(classify(&error), Verdict::STOP);
}

async fn check_stream(adapter: AdapterKind, answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| {
        Model::of(adapter, url).events().await
    })
    .await;
}

#[tokio::test]
async fn streams() {
    let openai = AdapterKind::OpenAI;
    check_stream(openai, broken_events(&[CHUNK]), BROKEN).await;
    check_stream(openai, events(&[CHUNK]), BROKEN).await;
    check_stream(openai, events(&[]), BROKEN).await;
    check_stream(openai, events(&[CHUNK, ERROR_EVENT]), BROKEN).await;
    check_stream(openai, events(&[CHUNK, "data: {"]), Verdict::STOP).await;
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}";
    check_stream(AdapterKind::Anthropic, events(&[overloaded]), BROKEN).await;
    let invalid = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"m\"}}";
    check_stream(AdapterKind::Anthropic, events(&[invalid]), Verdict::STOP).await;
}

impl Model {
    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn events_in_time(
        &self,
        options: &ChatOptions,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        let request = ChatRequest::from_user("hi");
        let answer = self
            .client
            .exec_chat_stream(self.target.clone(), request, Some(options))
            .await?;
        Ok(whole(answer).boxed())
    }
}

/// The client's own time limits of streams, not those of its HTTP client.
#[tokio::test]
async fn a_stream_that_stalls() {
    let _skipped = testing::skip_sleeps();
    let patience = Duration::from_millis(200);
    let of_headers = ChatOptions::default().with_stream_header_timeout(patience);
    let of_reads = ChatOptions::default().with_stream_read_timeout(patience);
    let table = [
        (of_headers, Answer::Nothing, "StreamTimeout::Headers"),
        (of_reads, stalling_events(&[CHUNK]), "StreamTimeout::Read"),
    ];
    for (options, answer, name) in table {
        let server = Server::start([answer]);
        let model = Model::at(&server.url);
        let error = model.events_in_time(&options).await.err().unwrap();
        let Error::WebStream { error: inside, .. } = &error else {
            panic!("{name}: {error:?}");
        };
        assert!(inside.is::<StreamTimeout>(), "{name}: {error:?}");
        assert_eq!(classify(&error), Verdict::TIMEOUT, "{name}");
        server.assert_attempts(Verdict::TIMEOUT);
    }
}

#[tokio::test]
async fn a_stream_is_yielded_once_it_is_whole() {
    let _skipped = testing::skip_sleeps();
    let answers = [
        events(&[CHUNK]),
        answer(503, ""),
        events(&[CHUNK, LAST, DONE]),
    ];
    let server = Server::start(answers);
    let events: Vec<_> = Model::at(&server.url)
        .events()
        .await
        .unwrap()
        .collect()
        .await;
    assert_eq!(server.requests(), 3);
    assert!(matches!(
        events[..],
        [
            Ok(ChatStreamEvent::Chunk(_)),
            Ok(ChatStreamEvent::Chunk(_)),
            Ok(ChatStreamEvent::End(_))
        ]
    ));
}

/// `Start` comes before the request is sent: as a first item it would end every call at once.
#[tokio::test]
async fn a_stream_is_opened_again_until_its_first_event() {
    let _skipped = testing::skip_sleeps();
    let answers = [answer(503, ""), closed(), events(&[CHUNK])];
    let server = Server::start(answers);
    let events: Vec<_> = Model::at(&server.url)
        .first_events()
        .await
        .unwrap()
        .collect()
        .await;
    assert_eq!(server.requests(), 3);
    assert!(matches!(
        events[..],
        [Ok(ChatStreamEvent::Chunk(_)), Err(_)]
    ));
}

#[tokio::test]
async fn a_call_ends_with_its_first_success() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, ""), answer(200, HELLO)]);
    Model::at(&server.url).chat().await.unwrap();
    assert_eq!(server.requests(), 2);
}
