//! `error_for_retry` with both major versions of `reqwest` against real servers on loopback.

use http::{HeaderMap, StatusCode};
use retry_runtime::ResponseError;
use support::loopback::{Server, read_head};
use support::prelude::*;
use tokio::io::AsyncWriteExt;

const LIMIT: usize = ResponseError::BODY_LIMIT;

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use std::error::Error;

            use ::$reqwest as reqwest;
            use reqwest::Client;
            use retry_runtime::{ErrorForRetry, retry};

            use super::*;

            thread_local! {
                /// One for all calls of a test, because building one reads the system's certificates.
                static CLIENT: Client = Client::builder().no_proxy().build().unwrap();
            }

            fn client() -> Client {
                CLIENT.with(Client::clone)
            }

            #[retry(max = 2, backoff = "none")]
            async fn get(
                client: &Client,
                url: &str,
            ) -> Result<String, Box<dyn Error + Send + Sync>> {
                let response = client.get(url).send().await?.error_for_retry().await?;
                Ok(response.text().await?)
            }

            /// Returns the error of the call, and the number of requests.
            async fn failure(answer: impl Into<Vec<u8>>) -> (ResponseError, u32) {
                let server = Server::answering(answer);
                let url = format!("{}v1/chat?key=secret#part", server.url());
                let error = get(&client(), &url).await.unwrap_err();
                let error = error.downcast::<ResponseError>().unwrap();
                (*error, server.accepted())
            }

            #[tokio::test]
            async fn success_is_passed_on() {
                for status in ["200 OK", "204 No Content", "304 Not Modified"] {
                    let server = Server::answering(answer(status, "", ""));
                    get(&client(), &server.url()).await.unwrap();
                    assert_eq!(server.accepted(), 1);
                }
                let server = Server::answering(answer("200 OK", "", "hello"));
                assert_eq!(get(&client(), &server.url()).await.unwrap(), "hello");
            }

            #[tokio::test]
            async fn statuses_are_retried_by_the_table() {
                for status in 400..=599 {
                    let (error, requests) = failure(answer(&format!("{status} -"), "", "")).await;
                    let expected = StatusCode::from_u16(status).unwrap().classify();
                    assert_eq!(error.status(), status);
                    assert_eq!(error.classify(), expected, "{status}");
                    assert_eq!(requests == 3, expected.is_retryable(), "{status}");
                }
            }

            #[tokio::test]
            async fn headers_are_kept_and_obeyed() {
                let throttled = answer("429 -", "retry-after: 0.05\r\nx-request-id: 7\r\n", "");
                let start = std::time::Instant::now();
                let (error, requests) = failure(throttled).await;
                assert_eq!(requests, 3);
                assert!(start.elapsed() >= Duration::from_millis(100));
                assert_eq!(error.headers()["x-request-id"], "7");
                let hint = Duration::from_millis(50);
                assert_eq!(error.classify(), Verdict::THROTTLED.after(hint));

                let (error, requests) =
                    failure(answer("503 -", "x-should-retry: false\r\n", "")).await;
                assert_eq!((error.classify(), requests), (Verdict::TRANSIENT.once(), 1));
                let (error, requests) =
                    failure(answer("409 -", "x-should-retry: true\r\n", "")).await;
                assert_eq!((error.classify(), requests), (Verdict::TRANSIENT, 3));
            }

            #[tokio::test]
            async fn bills_are_seen_in_the_body() {
                let unpaid =
                    r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#;
                let (error, requests) =
                    failure(answer("429 -", "retry-after: 1\r\n", unpaid)).await;
                assert_eq!((error.classify(), requests), (Verdict::STOP, 1));
                let busy = r#"{"error":{"type":"requests","code":"rate_limit_exceeded"}}"#;
                let (error, requests) = failure(answer("429 -", "", busy)).await;
                assert_eq!((error.classify(), requests), (Verdict::THROTTLED, 3));
            }

            #[tokio::test]
            async fn the_text_has_status_url_and_body_without_secrets() {
                let (error, _) = failure(answer("400 Bad Request", "", "  no\r\nmodel  ")).await;
                let shown = error.to_string();
                let (head, tail) = shown.split_once("127.0.0.1").unwrap();
                assert_eq!(head, "400 Bad Request from http://");
                assert!(tail.ends_with("/v1/chat: no  model"), "{shown}");
                assert!(!format!("{error:?}{error}").contains("secret"));
            }

            #[tokio::test]
            async fn the_start_of_a_long_body_is_kept() {
                let long = "0123456789".repeat(LIMIT);
                let (error, _) = failure(answer("400 -", "", &long)).await;
                assert_eq!(error.body(), &long.as_bytes()[..LIMIT]);
                let shown = error.to_string();
                assert!(shown.ends_with("789…") && shown.len() < 600, "{shown}");
            }

            #[tokio::test]
            async fn an_endless_body_is_not_waited_for() {
                let server = Server::start(async |mut stream| {
                    read_head(&mut stream).await?;
                    let head = b"HTTP/1.1 400 -\r\ncontent-length: 99999999\r\n\r\n";
                    stream.write_all(head).await?;
                    stream.write_all(&vec![b'x'; LIMIT + 1]).await?;
                    pending().await
                });
                let error = get(&client(), &server.url()).await.unwrap_err();
                let error = error.downcast::<ResponseError>().unwrap();
                assert_eq!(error.body().len(), LIMIT);
            }

            #[tokio::test]
            async fn a_body_that_breaks_off_does_not_hide_the_status() {
                let truncated =
                    "HTTP/1.1 503 -\r\nretry-after: 0\r\ncontent-length: 99\r\n\r\nbusy";
                let (error, requests) = failure(truncated).await;
                assert_eq!(
                    (error.status(), error.body()),
                    (StatusCode::SERVICE_UNAVAILABLE, &b"busy"[..])
                );
                assert_eq!(error.classify(), Verdict::TRANSIENT.after(Duration::ZERO));
                assert_eq!(requests, 3);
                let shown = error.to_string();
                assert!(shown.contains(": busy (the body is incomplete: "), "{shown}");

                let server =
                    Server::stalling_after(b"HTTP/1.1 404 -\r\ncontent-length: 99\r\n\r\nno");
                let patience = Duration::from_millis(300);
                let client = Client::builder().no_proxy().timeout(patience).build().unwrap();
                let error = get(&client, &server.url()).await.unwrap_err();
                assert_eq!(error.classify(), Verdict::STOP, "{error}");
                assert_eq!(server.accepted(), 1);
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);

#[test]
fn urls_are_kept_without_what_may_be_secret() {
    let table = [
        ("https://user:pass@host:8080/a/b?key=1", "https://host:8080/a/b"),
        ("https://host#part", "https://host"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host?a=b/c@d", "https://host"),
        ("/path?key=1", "/path"),
        ("", ""),
    ];
    for (url, expected) in table {
        let error = ResponseError::new(StatusCode::NOT_FOUND, HeaderMap::new(), "").url(url);
        let shown = error.to_string();
        let from = shown.strip_prefix("404 Not Found").unwrap();
        assert_eq!(from.strip_prefix(" from ").unwrap_or(from), expected);
    }
}

#[test]
fn any_body_can_be_shown() {
    for body in [&b"\xff\xfe\0"[..], "é".repeat(300).as_bytes(), b"\x1b[31m"] {
        let error = ResponseError::new(StatusCode::NOT_FOUND, HeaderMap::new(), body);
        let shown = error.to_string();
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
}
