//! Both major versions of `reqwest` against real servers on loopback: the classification of each failure.

use http_body::Frame;
use support::loopback::{Server, closed_port, read_head};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::AsyncWriteExt;

const TRUNCATED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":1,   ";
const TRUNCATED_CHUNK: &[u8] =
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n0123456789";
const TRUNCATED_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-le";
const TRUNCATED_JSON: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"a\":";
const BAD_JSON: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{a}";
const BAD_CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n0123456789";
const BAD_HEAD: &[u8] = b"220 mail.example ESMTP\r\n\r\n";
const REDIRECT: &[u8] =
    b"HTTP/1.1 302 Found\r\nconnection: close\r\nlocation: /\r\ncontent-length: 0\r\n\r\n";
const REDIRECT_ELSEWHERE: &[u8] =
    b"HTTP/1.1 302 Found\r\nlocation: ftp://x/\r\ncontent-length: 0\r\n\r\n";

/// Closes the connection without a response.
fn closing() -> Server {
    Server::start(async |mut stream| read_head(&mut stream).await.map(drop))
}

/// Responds with these bytes, and then resets the connection.
fn resetting_after(answer: &'static [u8]) -> Server {
    Server::start(move |mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(answer).await?;
        stream.set_zero_linger()
    })
}

/// Responds with the status in the path.
fn of_statuses() -> Server {
    Server::start(async |mut stream| {
        loop {
            let head = read_head(&mut stream).await?;
            let status = head.split(['/', ' ']).nth(2).unwrap_or_default();
            let answer = format!("HTTP/1.1 {status} -\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await?;
        }
    })
}

/// The body of a request that its own producer breaks off.
struct FailingBody;

impl http_body::Body for FailingBody {
    type Data = &'static [u8];
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, io::Error>>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }
}

/// A DNS resolver that never responds.
struct NoAnswer;

/// Stands in for a handshake that fails with this text, because the client may be built without TLS.
struct Handshake(&'static str);

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use std::time::Duration;

            use ::$reqwest as reqwest;
            use http::StatusCode;
            use reqwest::dns::{Name, Resolve, Resolving};
            use reqwest::{Body, Client, ClientBuilder, Error};
            use retry_runtime::{Classify, Verdict};

            use super::*;

            impl Resolve for NoAnswer {
                fn resolve(&self, _: Name) -> Resolving {
                    Box::pin(pending())
                }
            }

            impl Resolve for Handshake {
                fn resolve(&self, _: Name) -> Resolving {
                    let failed = self.0;
                    Box::pin(async move { Err(failed.into()) })
                }
            }

            fn builder() -> ClientBuilder {
                Client::builder().no_proxy()
            }

            /// Long enough for the headers of a response on a busy machine.
            const PATIENCE: Duration = Duration::from_millis(500);

            fn impatient() -> Client {
                builder().timeout(PATIENCE).build().unwrap()
            }

            fn client() -> Client {
                builder().build().unwrap()
            }

            /// Returns the error of the request.
            async fn get(client: Client, url: &str) -> Error {
                client.get(url).send().await.unwrap_err()
            }

            /// Returns the error of reading the body, after the headers arrived.
            async fn read(client: Client, url: &str) -> Error {
                client.get(url).send().await.unwrap().bytes().await.unwrap_err()
            }

            async fn read_json(server: &Server) -> Error {
                let answer = client().get(&server.url()).send().await.unwrap();
                answer.json::<Vec<u8>>().await.unwrap_err()
            }

            #[tokio::test]
            async fn no_connection_is_transient_unless_it_is_impossible() {
                let refused = get(client(), &format!("http://{}/", closed_port())).await;
                assert_eq!(refused.classify(), Verdict::TRANSIENT, "{refused:?}");

                let nameless = get(client(), "http://no-such-host.invalid/").await;
                assert_eq!(nameless.classify(), Verdict::TRANSIENT, "{nameless:?}");

                for (failed, expected) in [
                    ("invalid peer certificate: UnknownIssuer", Verdict::STOP),
                    ("received fatal alert: InternalError", Verdict::TRANSIENT),
                ] {
                    let client = builder().dns_resolver(Arc::new(Handshake(failed)));
                    let error = get(client.build().unwrap(), "http://example.invalid/").await;
                    assert!(error.is_connect(), "{error:?}");
                    assert_eq!(error.classify(), expected, "{error:?}");
                }

                let client = builder()
                    .dns_resolver(Arc::new(NoAnswer))
                    .connect_timeout(Duration::from_millis(50));
                let late = get(client.build().unwrap(), "http://example.invalid/").await;
                assert!(late.is_timeout(), "{late:?}");
                assert_eq!(late.classify(), Verdict::TRANSIENT, "{late:?}");
            }

            #[tokio::test]
            async fn a_connection_that_breaks_before_the_response_is_ambiguous() {
                let closed_at_once = Server::start(async |_| Ok(()));
                let servers = [
                    closing(),
                    Server::answering(TRUNCATED_HEAD),
                    resetting_after(b""),
                    closed_at_once,
                ];
                for server in servers {
                    let error = get(client(), &server.url()).await;
                    assert_eq!(error.classify(), BROKEN, "{error:?}");
                }
            }

            #[tokio::test]
            async fn a_truncated_body_is_ambiguous() {
                let servers = [
                    Server::answering(TRUNCATED),
                    Server::answering(TRUNCATED_CHUNK),
                    resetting_after(TRUNCATED),
                ];
                for server in servers {
                    let error = read(client(), &server.url()).await;
                    assert!(error.is_decode(), "{error:?}");
                    assert_eq!(error.classify(), BROKEN, "{error:?}");
                }
                let error = read_json(&Server::answering(TRUNCATED)).await;
                assert_eq!(error.classify(), BROKEN, "{error:?}");
            }

            #[tokio::test]
            async fn a_timeout_is_a_timeout_even_in_the_body() {
                let server = Server::stalling_after(b"");
                let error = get(impatient(), &server.url()).await;
                assert_eq!(error.classify(), Verdict::TIMEOUT, "{error:?}");

                let server = Server::stalling_after(TRUNCATED);
                let error = read(impatient(), &server.url()).await;
                assert!(error.is_decode(), "{error:?}");
                assert_eq!(error.classify(), Verdict::TIMEOUT, "{error:?}");

                let client = builder().read_timeout(PATIENCE).build().unwrap();
                let error = read(client, &server.url()).await;
                assert_eq!(error.classify(), Verdict::TIMEOUT, "{error:?}");
            }

            #[tokio::test]
            async fn a_garbled_response_stops() {
                for answer in [BAD_JSON, TRUNCATED_JSON] {
                    let error = read_json(&Server::answering(answer)).await;
                    assert!(error.is_decode(), "{error:?}");
                    assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
                }
                let error = read(client(), &Server::answering(BAD_CHUNK).url()).await;
                assert_eq!(error.classify(), Verdict::STOP, "{error:?}");

                let error = get(client(), &Server::answering(BAD_HEAD).url()).await;
                assert!(error.is_request(), "{error:?}");
                assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
            }

            #[tokio::test]
            async fn a_callers_mistake_stops() {
                for url in ["no address", "ftp://localhost/", "http://{host}/"] {
                    let error = get(client(), url).await;
                    assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
                }
                let server = Server::stalling_after(b"");
                let request = client().post(&server.url()).body(Body::wrap(FailingBody));
                let error = request.send().await.unwrap_err();
                assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
            }

            #[tokio::test]
            async fn redirects_without_end_or_target_or_permission_stop() {
                for answer in [REDIRECT, REDIRECT_ELSEWHERE] {
                    let error = get(client(), &Server::answering(answer).url()).await;
                    assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
                }
                // With any cause.
                let refusing = reqwest::redirect::Policy::custom(|attempt| {
                    attempt.error(io::Error::from(io::ErrorKind::TimedOut))
                });
                let client = builder().redirect(refusing).build().unwrap();
                let error = get(client, &Server::answering(REDIRECT).url()).await;
                assert!(error.is_redirect(), "{error:?}");
                assert_eq!(error.classify(), Verdict::STOP, "{error:?}");
            }

            #[tokio::test]
            async fn a_status_error_has_the_verdict_of_its_status() {
                let server = of_statuses();
                let client = client();
                for code in 400..=599 {
                    let url = format!("{}{code}", server.url());
                    let answer = client.get(url).send().await.unwrap();
                    let error = answer.error_for_status().unwrap_err();
                    let expected = StatusCode::from_u16(code).unwrap().classify();
                    assert_eq!(error.classify(), expected, "{error:?}");
                }
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);
