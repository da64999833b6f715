use std::fmt::{Debug, Display};
use std::io;
use std::time::Duration;

use async_nats::client::FlushErrorKind;
use async_nats::error::Error;
use async_nats::jetstream::context as jetstream;
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, PublishErrorKind, RequestErrorKind,
    SubscribeErrorKind,
};
use retry_clients::async_nats::{Failure, classify};
use retry_runtime::{Verdict, retry};
use support::loopback::{Server, attempts, closed_port};
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[retry(max = 2, backoff = "none", on = classify)]
async fn connect(url: &str, count: &mut u32) -> Result<Client, async_nats::Error> {
    *count += 1;
    let options = ConnectOptions::new().connection_timeout(Duration::from_millis(100));
    Ok(options.connect(url).await?)
}

async fn check(url: &str, expected: Verdict) {
    let mut count = 0;
    let error = connect(url, &mut count).await.unwrap_err();
    assert_eq!(classify(&error), expected, "{error:?}");
    assert_eq!(count, attempts(expected).0, "{error:?}");
}

/// Sends these bytes to everybody, and goes on reading.
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
    check(&format!("nats://{}", silent.address), Verdict::TRANSIENT).await;
}

#[tokio::test]
async fn what_no_wait_heals_stops() {
    check("http://127.0.0.1", Verdict::STOP).await;
    let garbled = saying("HTTP/1.1 400 Bad Request\r\n\r\n");
    check(&format!("nats://{}", garbled.address), Verdict::STOP).await;
    let strict = saying(concat!(
        r#"INFO {"server_id":"A","server_name":"A","version":"2.9.10","proto":1,"go":"go1.19","host":"127.0.0.1","port":4222,"#,
        r#""headers":true,"max_payload":1048576,"client_id":1}"#,
        "\r\n-ERR 'Authorization Violation'\r\n"
    ));
    check(&format!("nats://{}", strict.address), Verdict::STOP).await;
}

/// By its own type, and in the one that holds any.
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

#[test]
fn every_kind_has_the_verdict_of_the_table() {
    check_kind(ConnectErrorKind::Dns, Verdict::TRANSIENT);
    check_kind(ConnectErrorKind::Io, Verdict::TRANSIENT);
    check_kind(ConnectErrorKind::TimedOut, Verdict::TRANSIENT);
    check_kind(ConnectErrorKind::MaxReconnects, Verdict::TRANSIENT);
    check_kind(ConnectErrorKind::Tls, Verdict::STOP);
    check_kind(ConnectErrorKind::Authentication, Verdict::STOP);
    check_kind(ConnectErrorKind::AuthorizationViolation, Verdict::STOP);
    check_kind(ConnectErrorKind::ServerParse, Verdict::STOP);

    check_kind(PublishErrorKind::Send, Verdict::TRANSIENT);
    check_kind(PublishErrorKind::InvalidSubject, Verdict::STOP);
    check_kind(PublishErrorKind::MaxPayloadExceeded, Verdict::STOP);

    check_kind(SubscribeErrorKind::Other, Verdict::TRANSIENT);
    check_kind(SubscribeErrorKind::InvalidSubject, Verdict::STOP);
    check_kind(SubscribeErrorKind::InvalidQueueName, Verdict::STOP);

    check_kind(FlushErrorKind::SendError, Verdict::TRANSIENT);
    check_kind(FlushErrorKind::FlushError, BROKEN);

    check_kind(RequestErrorKind::NoResponders, Verdict::TRANSIENT);
    check_kind(RequestErrorKind::TimedOut, Verdict::TIMEOUT);
    check_kind(RequestErrorKind::Other, BROKEN);
    check_kind(RequestErrorKind::InvalidSubject, Verdict::STOP);

    check_kind(
        jetstream::PublishErrorKind::StreamNotFound,
        Verdict::TRANSIENT,
    );
    check_kind(jetstream::PublishErrorKind::TimedOut, Verdict::TIMEOUT);
    check_kind(jetstream::PublishErrorKind::BrokenPipe, BROKEN);
    check_kind(
        jetstream::PublishErrorKind::MaxAckPending,
        Verdict::THROTTLED,
    );
    check_kind(
        jetstream::PublishErrorKind::WrongLastSequence,
        Verdict::STOP,
    );
    check_kind(
        jetstream::PublishErrorKind::WrongLastMessageId,
        Verdict::STOP,
    );
    check_kind(jetstream::PublishErrorKind::Other, Verdict::STOP);

    check_kind(
        jetstream::RequestErrorKind::NoResponders,
        Verdict::TRANSIENT,
    );
    check_kind(jetstream::RequestErrorKind::TimedOut, Verdict::TIMEOUT);
    check_kind(jetstream::RequestErrorKind::Other, Verdict::STOP);
}

/// As `JetStream` sends them.
#[test]
fn what_jet_stream_says_by_its_code() {
    for (code, number, expected) in [
        (503, 10008, Verdict::TRANSIENT),
        (503, 10039, Verdict::STOP),
        (503, 10077, BROKEN),
        (500, 10009, Verdict::TRANSIENT),
        (409, 10158, BROKEN),
        (429, 10167, Verdict::THROTTLED),
        (400, 10003, Verdict::STOP),
        (500, 10001, Verdict::STOP),
    ] {
        let said = format!(r#"{{"code":{code},"err_code":{number},"description":"no"}}"#);
        let error: async_nats::jetstream::Error = serde_json::from_str(&said).unwrap();
        assert_eq!(classify(&error), expected, "{code} {number}");
        let error = Error::with_source(jetstream::PublishErrorKind::Other, error);
        assert_eq!(classify(&error), expected, "{code} {number}");
    }
}

/// rustls' error of a certificate comes as one of I/O.
#[test]
fn a_certificate_that_is_not_trusted_is_no_passing_fault() {
    let invalid = io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate");
    let error = Error::with_source(ConnectErrorKind::Io, invalid);
    assert_eq!(classify(&error), Verdict::STOP);
}
