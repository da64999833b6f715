use async_nats::jetstream::context::{GetStreamError, PublishError};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, RequestError, RequestErrorKind};
use retry_clients::async_nats::classify;
use support::loopback::attempts;
use support::prelude::*;

use crate::databases::{control, control_concurrently, setting};

/// A client that waits for responses for this time.
async fn connect(patience: Duration) -> Client {
    let options = ConnectOptions::new().request_timeout(Some(patience));
    options.connect(setting("DATABASES_NATS")).await.unwrap()
}

#[retry(max = 2, backoff = "none", on = classify)]
async fn ask(client: &Client, subject: &'static str, count: &mut u32) -> Result<(), RequestError> {
    *count += 1;
    client.request(subject, "?".into()).await.map(drop)
}

async fn check(client: &Client, subject: &'static str, expected: Verdict) -> RequestErrorKind {
    let mut count = 0;
    let error = ask(client, subject, &mut count).await.unwrap_err();
    assert_eq!(classify(&error), expected, "{error:?}");
    assert_eq!(count, attempts(expected).0, "{error:?}");
    error.kind()
}

#[tokio::test]
#[ignore = "needs NATS: run by .ci/databases"]
async fn requests_without_a_responder_are_retried() {
    let client = connect(Duration::from_millis(50)).await;
    let kind = check(&client, "nobody", Verdict::TRANSIENT).await;
    assert_eq!(kind, RequestErrorKind::NoResponders);
    let _silent = client.subscribe("silent").await.unwrap();
    let kind = check(&client, "silent", Verdict::TIMEOUT).await;
    assert_eq!(kind, RequestErrorKind::TimedOut);
    check(&client, "no subject", Verdict::STOP).await;
}

/// Stored once, however often it is sent.
#[retry(max = 500, backoff = "fixed", base = "10ms", jitter = "none", on = |error: &PublishError| {
    verdicts.push(classify(error));
    classify(error)
})]
async fn place(
    context: &Context,
    subject: &'static str,
    verdicts: &mut Vec<Verdict>,
) -> Result<(), PublishError> {
    let message = PublishMessage::build().message_id("1").payload("!".into());
    context.send_publish(subject, message).await?.await.map(drop)
}

/// `JetStream`, which has a stream of that name, and no others that take its messages.
async fn with_stream(client: Client, name: &str) -> Context {
    let mut context = jetstream::new(client);
    context.set_timeout(Duration::from_millis(100));
    let _ = context.delete_stream(name).await;
    context
}

async fn stored(context: &Context, name: &str) -> u64 {
    let mut stream = context.get_stream(name).await.unwrap();
    stream.info().await.unwrap().state.messages
}

fn config(name: &str) -> Config {
    Config { name: name.to_owned(), ..Config::default() }
}

#[tokio::test]
#[ignore = "needs NATS: run by .ci/databases"]
async fn publishing_is_retried_until_the_stream_exists() {
    let context = with_stream(connect(Duration::from_secs(1)).await, "late").await;
    let mut verdicts = Vec::new();
    let create = async {
        sleep(Duration::from_millis(50)).await;
        context.create_stream(config("late")).await.unwrap();
    };
    let (placed, ()) = tokio::join!(place(&context, "late", &mut verdicts), create);
    placed.unwrap();
    assert!(!verdicts.is_empty());
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::TRANSIENT));
    assert_eq!(stored(&context, "late").await, 1);
}

/// The client reconnects by itself.
#[tokio::test]
#[ignore = "needs NATS: run by .ci/databases"]
async fn a_server_that_stops_responding_or_is_restarted_stores_a_message_once() {
    let cases: [(_, _, &'static [&str]); 2] =
        [("slow", "stop", &["nats", "continue"]), ("kept", "kill", &["nats", "start"])];
    for (name, end, start) in cases {
        let context = with_stream(connect(Duration::from_secs(1)).await, name).await;
        context.create_stream(config(name)).await.unwrap();
        let mut verdicts = Vec::new();
        control(&["nats", end]);
        let start = async {
            sleep(Duration::from_millis(250)).await;
            control_concurrently(start).await;
        };
        let (placed, ()) = tokio::join!(place(&context, name, &mut verdicts), start);
        placed.unwrap();
        assert!(verdicts.contains(&Verdict::TIMEOUT), "{verdicts:?}");
        assert_eq!(stored(&context, name).await, 1);
    }
}

#[retry(max = 2, backoff = "none", on = classify)]
async fn manage(context: &Context, stream: &str, count: &mut u32) -> Result<(), GetStreamError> {
    *count += 1;
    context.get_stream(stream).await.map(drop)
}

#[tokio::test]
#[ignore = "needs NATS: run by .ci/databases"]
async fn management_is_retried_while_the_server_does_not_respond() {
    let context = with_stream(connect(Duration::from_secs(1)).await, "managed").await;
    context.create_stream(config("managed")).await.unwrap();
    let mut count = 0;
    let error = manage(&context, "missing", &mut count).await.unwrap_err();
    assert_eq!((classify(&error), count), (Verdict::STOP, 1), "{error:?}");
    control(&["nats", "stop"]);
    let mut count = 0;
    let result = manage(&context, "managed", &mut count).await;
    control(&["nats", "continue"]);
    let error = result.unwrap_err();
    assert_eq!((classify(&error), count), (Verdict::TIMEOUT, 3), "{error:?}");
}
