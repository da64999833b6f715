//! genai: failures as its client reports them, classified and counted.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatResponse, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::webc::StreamTimeout;
use genai::{Client, Error, ModelIden, ServiceTarget};
use reqwest_0_13 as reqwest;
use retry_clients::genai::{classify, whole};
use support::check_rows;
use support::openai_refusals;
use support::prelude::*;
use support::scripted::{
    Answer, Server, answer, answer_with, broken_events, closed, cut, events, stalling_events,
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
    options: ChatOptions,
}

impl Model {
    fn of(adapter: AdapterKind, url: &str) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(1));
        Self {
            client: Client::builder().with_reqwest(http.build().unwrap()).build().unwrap(),
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(format!("{url}/v1/")),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(adapter, "m"),
            },
            options: ChatOptions::default(),
        }
    }

    fn at(url: &str) -> Self {
        Self::of(AdapterKind::OpenAI, url)
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn chat(&self) -> Result<ChatResponse, Error> {
        let request = ChatRequest::from_user("hi");
        self.client.exec_chat(self.target.clone(), request, None).await
    }

    async fn open(&self) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        let (target, request) = (self.target.clone(), ChatRequest::from_user("hi"));
        let answer = self.client.exec_chat_stream(target, request, Some(&self.options)).await?;
        Ok(whole(answer).boxed())
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "buffer")]
    async fn events(&self) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        self.open().await
    }

    #[retry(max = 3, jitter = "none", on = classify, stream = "first")]
    async fn first_events(
        &self,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, Error>>, Error> {
        self.open().await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    check_call(answer.clone(), expected).await;
    // A stream sends its request only when it is polled, and gets the same response.
    check_stream(answer, expected).await;
}

async fn check_call(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).chat().await).await;
}

async fn check_stream(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Model::at(url).events().await).await;
}

#[tokio::test]
async fn answers() {
    for (answer, verdict) in openai_refusals::all(refused) {
        check(answer, verdict).await;
    }
    let asked = [("retry-after", "2")];
    let [two, google] =
        [2000, 2500].map(|hint| Verdict::THROTTLED.after(Duration::from_millis(hint)));
    check_rows! { check:
        [429] DAILY => Verdict::STOP,
        [429] EXHAUSTED => Verdict::THROTTLED,
        answer_with(429, &asked, EXHAUSTED) => two,
        [429] GOOGLE_HINT => google,
        [429] &format!("[{GOOGLE_HINT}]") => google,
        answer_with(429, &asked, GOOGLE_HINT) => two,
        closed() => BROKEN,
        Answer::Absent => Verdict::TRANSIENT,
    }
    check_rows! { check_call:
        cut() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        [200] "no JSON" => Verdict::STOP,
    }
    let model_iden = ModelIden::new(AdapterKind::OpenAI, "m");
    assert_eq!(classify(&Error::RequiresApiKey { model_iden }), Verdict::STOP);
}

#[tokio::test]
async fn streams() {
    check_rows! { check_stream:
        broken_events(&[CHUNK]) => BROKEN,
        events(&[CHUNK]) => BROKEN,
        events(&[]) => BROKEN,
        events(&[CHUNK, ERROR_EVENT]) => BROKEN,
        events(&[CHUNK, "data: {"]) => Verdict::STOP,
    }
    for (kind, expected) in [("overloaded_error", BROKEN), ("invalid_request_error", Verdict::STOP)]
    {
        let error = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#);
        let event = events(&[&format!("event: error\ndata: {error}")]);
        let call = async |url: &str| Model::of(AdapterKind::Anthropic, url).events().await;
        scripted::check(event, expected, classify, call).await;
    }
}

/// The client's own time limits of streams, not those of its HTTP client.
#[tokio::test]
async fn a_stream_that_stalls() {
    let patience = Duration::from_millis(200);
    let of_headers = ChatOptions::default().with_stream_header_timeout(patience);
    let of_reads = ChatOptions::default().with_stream_read_timeout(patience);
    let table = [
        (of_headers, Answer::Nothing, "StreamTimeout::Headers"),
        (of_reads, stalling_events(&[CHUNK]), "StreamTimeout::Read"),
    ];
    for (options, answer, name) in table {
        let of_stream = |error: &Error| {
            let Error::WebStream { error: inside, .. } = error else {
                panic!("{name}: {error:?}");
            };
            assert!(inside.is::<StreamTimeout>(), "{name}: {error:?}");
            classify(error)
        };
        let call = async |url: &str| Model { options, ..Model::at(url) }.events().await;
        scripted::check(answer, Verdict::TIMEOUT, of_stream, call).await;
    }
}

#[tokio::test]
async fn a_call_ends_with_its_first_success_and_a_stream_once_it_is_whole() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, ""), answer(200, HELLO)]);
    Model::at(&server.url).chat().await.unwrap();
    assert_eq!(server.requests(), 2);

    let answers = [events(&[CHUNK]), answer(503, ""), events(&[CHUNK, LAST, DONE])];
    let server = Server::start(answers);
    let events: Vec<_> = Model::at(&server.url).events().await.unwrap().collect().await;
    assert_eq!(server.requests(), 3);
    assert!(matches!(
        events[..],
        [Ok(ChatStreamEvent::Chunk(_)), Ok(ChatStreamEvent::Chunk(_)), Ok(ChatStreamEvent::End(_))]
    ));
}

/// `Start` comes before the request is sent: as a first item it would end every call at once.
#[tokio::test]
async fn a_stream_is_opened_again_until_its_first_event() {
    let _skipped = testing::skip_sleeps();
    let answers = [answer(503, ""), closed(), events(&[CHUNK])];
    let server = Server::start(answers);
    let events: Vec<_> = Model::at(&server.url).first_events().await.unwrap().collect().await;
    assert_eq!(server.requests(), 3);
    assert!(matches!(events[..], [Ok(ChatStreamEvent::Chunk(_)), Err(_)]));
}
