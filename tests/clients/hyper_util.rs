//! hyper-util's client against real loopback servers: the classification of each failure, and the number of attempts.

use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::TokioExecutor;
use retry_runtime::ResponseError;
use support::loopback::{self, Server, attempts, closed_port, status};
use support::prelude::*;
use support::verdicts::BROKEN;

type Http = Client<HttpConnector, Empty<&'static [u8]>>;

fn client() -> Http {
    Client::builder(TokioExecutor::new()).build_http()
}

async fn check(url: &str, expected: Verdict) {
    let get = async || client().get(url.parse().unwrap()).await;
    loopback::check(expected, ClientError::classify, get).await;
}

#[tokio::test]
async fn no_connection_is_transient_and_a_broken_one_is_ambiguous() {
    check(&format!("http://{}/", closed_port()), Verdict::TRANSIENT).await;
    check("http://no-such-host.invalid/", Verdict::TRANSIENT).await;
    for answer in ["", "HTTP/1.1 200 OK\r\ncontent-le"] {
        check(&Server::answering(answer).url(), BROKEN).await;
    }
}

#[tokio::test]
async fn other_errors_stop() {
    let garbled = Server::answering("220 mail.example ESMTP\r\n\r\n");
    check(&garbled.url(), Verdict::STOP).await;
    check("/no-host", Verdict::STOP).await;
    // This client has no TLS.
    check("https://127.0.0.1:1/", Verdict::STOP).await;
}

/// The whole body, statuses as errors.
#[retry(max = 2, backoff = "none")]
async fn read(client: &Http, url: &str) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let (head, body) = client.get(url.parse()?).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    if head.status.is_success() {
        return Ok(body.into());
    }
    Err(ResponseError::new(head.status, head.headers, body).into())
}

#[tokio::test]
async fn bodies_and_statuses_are_seen_through_a_box() {
    let truncated = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123";
    let bad_chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n0123";
    let table = [
        (truncated.to_owned(), BROKEN),
        (bad_chunk.to_owned(), Verdict::STOP),
        (status("503 Service Unavailable"), BROKEN),
        (status("429 Too Many Requests"), Verdict::THROTTLED),
        (status("403 Forbidden"), Verdict::STOP),
    ];
    for (answer, expected) in table {
        let server = Server::answering(answer);
        let error = read(&client(), &server.url()).await.unwrap_err();
        assert_eq!(error.classify(), expected, "{error:?}");
        assert_eq!(server.accepted(), attempts(expected).0, "{error:?}");
    }
}
