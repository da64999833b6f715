use std::fmt::{Debug, Display};

use async_nats::client::FlushErrorKind;
use async_nats::error::Error;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, consumer, context, kv, stream};
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, PublishErrorKind, Request, RequestError,
    RequestErrorKind, StatusCode, SubscribeErrorKind,
};
use futures_util::FutureExt;
use retry_clients::async_nats::{Failure, classify};
use support::loopback::{Server, attempts, closed_port};
use support::prelude::*;
use support::scripted::{IMPATIENCE, PATIENCE};
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[retry(max = 2, backoff = "none", on = classify)]
async fn connect(
    url: &str,
    patience: Duration,
    count: &mut u32,
) -> Result<Client, async_nats::Error> {
    *count += 1;
    let options = ConnectOptions::new().connection_timeout(patience);
    Ok(options.connect(url).await?)
}

async fn check(url: &str, expected: Verdict) {
    check_within(PATIENCE, url, expected).await;
}

async fn check_within(patience: Duration, url: &str, expected: Verdict) {
    let mut count = 0;
    let error = connect(url, patience, &mut count).await.unwrap_err();
    assert_eq!(classify(&error), expected, "{error:?}");
    assert_eq!(count, attempts(expected).0, "{error:?}");
}

/// The greeting of a server.
macro_rules! info {
    () => {
        concat!(
            r#"INFO {"server_id":"A","server_name":"A","version":"2.9.10","proto":1,"go":"go1.19","host":"127.0.0.1","#,
            r#""port":4222,"headers":true,"max_payload":1048576,"client_id":1}"#,
            "\r\n"
        )
    };
}

/// Sends these bytes on each connection, and keeps reading.
fn saying(bytes: &'static str) -> Server {
    Server::start(move |mut stream| async move {
        stream.write_all(bytes.as_bytes()).await?;
        while stream.read(&mut [0; 1024]).await? > 0 {}
        Ok(())
    })
}

#[tokio::test]
async fn no_connection_is_transient() {
    check(&format!("nats://{}", closed_port()), Verdict::TRANSIENT).await;
    check("nats://no-such-host.invalid", Verdict::TRANSIENT).await;
    let closing = Server::start(async |_| Ok(()));
    check(&format!("nats://{}", closing.address), Verdict::TRANSIENT).await;
    let silent = saying("");
    let silent = format!("nats://{}", silent.address);
    check_within(IMPATIENCE, &silent, Verdict::TRANSIENT).await;
}

#[tokio::test]
async fn permanent_failures_stop() {
    check("http://127.0.0.1", Verdict::STOP).await;
    let garbled = saying("HTTP/1.1 400 Bad Request\r\n\r\n");
    check(&format!("nats://{}", garbled.address), Verdict::STOP).await;
    let strict = saying(concat!(info!(), "-ERR 'Authorization Violation'\r\n"));
    check(&format!("nats://{}", strict.address), Verdict::STOP).await;
}

/// With its own type, and inside the type for any error.
fn check_kind<K>(kind: K, expected: Verdict)
where
    K: Clone + Debug + Display + PartialEq + Send + Sync + 'static,
    Error<K>: Failure,
{
    let shown = format!("{kind:?}");
    let error = Error::from(kind);
    assert_eq!(classify(&error), expected, "{shown}");
    let error: async_nats::Error = error.into();
    assert_eq!(classify(&error), expected, "{shown}");
}

macro_rules! check_kinds {
    ($($expected:expr => $($kind:expr),*;)*) => { $($(check_kind($kind, $expected);)*)* };
}

#[test]
fn every_kind_has_the_verdict_of_the_table() {
    check_kinds! {
        Verdict::TRANSIENT =>
            ConnectErrorKind::Dns,
            ConnectErrorKind::Io,
            ConnectErrorKind::TimedOut,
            ConnectErrorKind::MaxReconnects,
            RequestErrorKind::NoResponders,
            context::PublishErrorKind::StreamNotFound,
            context::RequestErrorKind::NoResponders,
            context::AccountErrorKind::JetStreamUnavailable,
            context::CreateStreamErrorKind::JetStreamUnavailable,
            context::ConsumerInfoErrorKind::NoResponders,
            context::ConsumerInfoErrorKind::Offline,
            stream::DirectGetErrorKind::ErrorResponse(StatusCode::NO_RESPONDERS, String::new()),
            consumer::pull::MessagesErrorKind::NoResponders,
            consumer::pull::OrderedErrorKind::NoResponders;
        Verdict::THROTTLED => context::PublishErrorKind::MaxAckPending;
        Verdict::TIMEOUT =>
            RequestErrorKind::TimedOut,
            context::PublishErrorKind::TimedOut,
            context::RequestErrorKind::TimedOut,
            context::AccountErrorKind::TimedOut,
            context::CreateStreamErrorKind::TimedOut,
            context::ConsumerInfoErrorKind::TimedOut,
            context::CreateKeyValueErrorKind::TimedOut,
            context::UpdateKeyValueErrorKind::TimedOut,
            stream::ConsumerErrorKind::TimedOut,
            stream::ConsumerCreateStrictErrorKind::TimedOut,
            stream::ConsumerUpdateErrorKind::TimedOut,
            stream::DeleteMessageErrorKind::TimedOut,
            stream::PurgeErrorKind::TimedOut,
            stream::DirectGetErrorKind::TimedOut,
            consumer::StreamErrorKind::TimedOut,
            consumer::pull::MessagesErrorKind::MissingHeartbeat,
            consumer::pull::OrderedErrorKind::MissingHeartbeat,
            consumer::pull::ConsumerRecreateErrorKind::TimedOut,
            consumer::push::MessagesErrorKind::MissingHeartbeat,
            consumer::push::OrderedErrorKind::MissingHeartbeat,
            consumer::push::ConsumerRecreateErrorKind::TimedOut,
            kv::StatusErrorKind::TimedOut,
            kv::EntryErrorKind::TimedOut,
            kv::UpdateErrorKind::TimedOut,
            kv::WatchErrorKind::TimedOut;
        BROKEN =>
            FlushErrorKind::FlushError,
            context::PublishErrorKind::BrokenPipe,
            stream::ConsumerCreateStrictErrorKind::Request,
            stream::ConsumerUpdateErrorKind::Request;
        Verdict::STOP =>
            ConnectErrorKind::Tls,
            ConnectErrorKind::Authentication,
            ConnectErrorKind::AuthorizationViolation,
            ConnectErrorKind::ServerParse,
            PublishErrorKind::InvalidSubject,
            PublishErrorKind::MaxPayloadExceeded,
            SubscribeErrorKind::InvalidSubject,
            SubscribeErrorKind::InvalidQueueName,
            RequestErrorKind::InvalidSubject,
            context::PublishErrorKind::WrongLastSequence,
            context::PublishErrorKind::WrongLastMessageId,
            context::PublishErrorKind::Other,
            context::RequestErrorKind::Other,
            context::CreateStreamErrorKind::NotFound,
            context::GetStreamErrorKind::EmptyName,
            context::GetStreamByNameErrorKind::NotFound,
            context::ConsumerInfoErrorKind::NotFound,
            stream::ConsumerCreateStrictErrorKind::AlreadyExists,
            stream::ConsumerUpdateErrorKind::DoesNotExist,
            stream::DirectGetErrorKind::NotFound,
            stream::LastRawMessageErrorKind::NoMessageFound,
            consumer::pull::MessagesErrorKind::ConsumerDeleted,
            consumer::push::MessagesErrorKind::ConsumerDeleted,
            kv::CreateErrorKind::AlreadyExists;
    }
}

/// In the format of `JetStream`.
#[test]
fn jet_stream_errors_are_classified_by_code() {
    for (code, number, expected) in [
        (503, 10008, Verdict::TRANSIENT),
        (503, 10039, Verdict::STOP),
        (503, 10077, BROKEN),
        (500, 10009, Verdict::TRANSIENT),
        (500, 10118, Verdict::TRANSIENT),
        (500, 10119, Verdict::TRANSIENT),
        (409, 10158, BROKEN),
        (429, 10167, Verdict::THROTTLED),
        (404, 10059, Verdict::STOP),
        (400, 10003, Verdict::STOP),
        (500, 10001, Verdict::STOP),
    ] {
        let reply = format!(r#"{{"code":{code},"err_code":{number},"description":"no"}}"#);
        let reply = || serde_json::from_str::<jetstream::Error>(&reply).unwrap();
        assert_eq!(classify(&reply()), expected, "{code} {number}");
        let error = Error::with_source(context::PublishErrorKind::Other, reply());
        assert_eq!(classify(&error), expected, "{code} {number}");
        check_kinds! {
            expected =>
                context::AccountErrorKind::JetStream(reply()),
                context::CreateStreamErrorKind::JetStream(reply()),
                context::GetStreamErrorKind::JetStream(reply()),
                context::GetStreamByNameErrorKind::JetStream(reply()),
                context::ConsumerInfoErrorKind::JetStream(reply()),
                stream::ConsumerErrorKind::JetStream(reply()),
                stream::ConsumerCreateStrictErrorKind::JetStream(reply()),
                stream::ConsumerUpdateErrorKind::JetStream(reply()),
                stream::DeleteMessageErrorKind::JetStream(reply()),
                stream::PurgeErrorKind::JetStream(reply()),
                stream::LastRawMessageErrorKind::JetStream(reply()),
                kv::StatusErrorKind::JetStream(reply());
        }
    }
}

/// Like an object store's error, which needs features that this test's client lacks.
#[derive(Clone, Debug, PartialEq)]
struct OfObjectStore(&'static str);

impl Display for OfObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[test]
fn an_error_has_the_verdict_of_its_cause() {
    let unanswered = || Error::from(context::RequestErrorKind::NoResponders);
    let error = Error::with_source(context::GetStreamErrorKind::Request, unanswered());
    assert_eq!(classify(&error), Verdict::TRANSIENT);
    let error = Error::with_source(context::KeyValueErrorKind::GetBucket, error);
    assert_eq!(classify(&error), Verdict::TRANSIENT);
    let error = Error::with_source(OfObjectStore("failed to get the store"), error);
    assert_eq!(classify(&error), Verdict::TRANSIENT);

    let error = Error::with_source(stream::ConsumerUpdateErrorKind::Request, unanswered());
    assert_eq!(classify(&error), Verdict::TRANSIENT);

    // rustls' error of a certificate comes as one of I/O.
    let untrusted = io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate");
    let error = Error::with_source(ConnectErrorKind::Io, untrusted);
    assert_eq!(classify(&error), Verdict::STOP);

    let late = Error::from(kv::UpdateErrorKind::TimedOut);
    let error = Error::with_source(kv::CreateErrorKind::Publish, late);
    assert_eq!(classify(&error), Verdict::TIMEOUT);

    check_kind(OfObjectStore("timed out"), Verdict::TIMEOUT);
    check_kind(OfObjectStore("object not found"), Verdict::STOP);
    let late = io::Error::new(io::ErrorKind::TimedOut, "double ack response timed out");
    assert_eq!(classify(&async_nats::Error::from(late)), Verdict::TIMEOUT);
    for (reply, expected) in [
        ("broken pipe", BROKEN),
        ("subscription dropped", BROKEN),
        ("no reply subject", Verdict::STOP),
    ] {
        assert_eq!(classify(&async_nats::Error::from(reply)), expected, "{reply}");
    }
}

/// From a batch, and from endless messages.
#[test]
fn ends_of_a_pull_consumers_messages_are_classified() {
    for (status, expected) in [
        ("503, None", Verdict::TRANSIENT),
        (r#"409, Some("Leadership Change")"#, Verdict::TRANSIENT),
        (r#"409, Some("Server Shutdown")"#, Verdict::TRANSIENT),
        (r#"409, Some("Consumer Deleted")"#, Verdict::STOP),
        (r#"409, Some("Exceeded MaxRequestBatch of 1")"#, Verdict::STOP),
        (r#"400, Some("Bad Request")"#, Verdict::STOP),
    ] {
        let reply = format!("error while processing messages from the stream: {status}");
        let of_batch = async_nats::Error::from(io::Error::other(reply.clone()));
        assert_eq!(classify(&of_batch), expected, "{status}");
        let of_messages = Error::with_source(consumer::pull::MessagesErrorKind::Other, reply);
        assert_eq!(classify(&of_messages), expected, "{status}");
    }
}

/// Returns a closed client, and the errors of two requests that were in flight, one of them with its own inbox.
async fn ended() -> (Client, [RequestError; 2]) {
    let server = saying(concat!(info!(), "PONG\r\n"));
    let client = async_nats::connect(format!("nats://{}", server.address));
    let client = client.await.unwrap();
    let own = Request::new().inbox("inbox".into());
    let mut under_way = Box::pin(async {
        let both = tokio::join!(
            client.request("unanswered", "?".into()),
            client.send_request("unanswered", own),
        );
        [both.0.unwrap_err(), both.1.unwrap_err()]
    });
    assert!((&mut under_way).now_or_never().is_none());
    client.drain().await.unwrap();
    let failed = under_way.await;
    (client, failed)
}

#[tokio::test]
async fn a_client_that_ends_is_ambiguous_once() {
    let (client, failed) = ended().await;
    for error in failed {
        assert_eq!(classify(&error), BROKEN, "{error:?}");
    }
    let published = client.publish("late", "!".into()).await.unwrap_err();
    assert_eq!(classify(&published), Verdict::STOP, "{published:?}");
    let subscribed = client.subscribe("late").await.unwrap_err();
    assert_eq!(classify(&subscribed), Verdict::STOP, "{subscribed:?}");
    let flushed = client.flush().await.unwrap_err();
    assert_eq!(classify(&flushed), Verdict::STOP, "{flushed:?}");
    let requested = client.request("late", "?".into()).await.unwrap_err();
    assert_eq!(classify(&requested), Verdict::STOP, "{requested:?}");
    let context = jetstream::new(client);
    let placed = context.send_publish("late", PublishMessage::build()).await;
    let placed = placed.unwrap_err();
    assert_eq!(classify(&placed), Verdict::STOP, "{placed:?}");
    let got = context.get_stream("late").await.unwrap_err();
    assert_eq!(classify(&got), Verdict::STOP, "{got:?}");
}
