//! The functions of `retry_runtime::on` with real clients' errors.

use retry_runtime::{ErrorForRetry, on};
use support::loopback::{Server, closed_port, status};
use support::prelude::*;
use support::scripted::{IMPATIENCE, PATIENCE};
use support::verdicts::BROKEN;

type Boxed = Box<dyn Error + Send + Sync>;

/// Servers, with the verdicts of `on::transient_io` and `on::http`.
fn servers() -> Vec<(Server, Verdict, Verdict)> {
    let stalling = Server::stalling_after(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
    vec![
        (Server::answering(""), BROKEN, BROKEN),
        (stalling, Verdict::TIMEOUT, Verdict::TIMEOUT),
        (Server::answering(status("503 -")), Verdict::STOP, BROKEN),
        (Server::answering(status("404 -")), Verdict::STOP, Verdict::STOP),
        (Server::answering("220 mail.example ESMTP\r\n\r\n"), Verdict::STOP, Verdict::STOP),
    ]
}

/// Returns the client's timeout, which is short if no response is expected.
fn patience(expected: Verdict) -> Duration {
    if expected == Verdict::TIMEOUT { IMPATIENCE } else { PATIENCE }
}

macro_rules! tests_of {
    ($reqwest:ident) => {
        mod $reqwest {
            use ::$reqwest as reqwest;

            use super::*;

            fn client(patience: Duration) -> reqwest::Client {
                let builder = reqwest::Client::builder().no_proxy();
                builder.timeout(patience).build().unwrap()
            }

            #[retry(max = 2, backoff = "none", on = on::transient_io)]
            async fn get(client: &reqwest::Client, url: &str) -> Result<String, reqwest::Error> {
                let response = client.get(url).send().await?;
                response.error_for_status()?.text().await
            }

            #[retry(max = 2, backoff = "none", on = on::http)]
            async fn get_boxed(client: &reqwest::Client, url: &str) -> Result<String, Boxed> {
                let response = client.get(url).send().await?;
                Ok(response.error_for_retry().await?.text().await?)
            }

            #[tokio::test]
            async fn connection_errors_and_responses_are_distinguished() {
                for (server, of_connection, of_http) in servers() {
                    let client = client(patience(of_http));
                    let error = get(&client, &server.url()).await.unwrap_err();
                    assert_eq!(on::transient_io(&error), of_connection, "{error:?}");
                    let first = if of_connection.is_retryable() { 3 } else { 1 };
                    assert_eq!(server.accepted(), first, "{error:?}");

                    let error = get_boxed(&client, &server.url()).await.unwrap_err();
                    assert_eq!(on::http(&error), of_http, "{error:?}");
                    assert_eq!(on::transient_io(&error), of_connection, "{error:?}");
                    let then = if of_http.is_retryable() { 3 } else { 1 };
                    assert_eq!(server.accepted(), first + then, "{error:?}");
                }
                let client = client(patience(Verdict::TRANSIENT));
                let url = format!("http://{}/", closed_port());
                let refused = get(&client, &url).await.unwrap_err();
                assert_eq!(on::transient_io(&refused), Verdict::TRANSIENT);
            }
        }
    };
}

tests_of!(reqwest_0_12);
tests_of!(reqwest_0_13);

#[test]
fn ureqs_connection_errors_and_responses_are_distinguished() {
    #[retry(max = 2, backoff = "none", on = on::transient_io)]
    fn get(agent: &ureq::Agent, url: &str) -> Result<String, Boxed> {
        Ok(agent.get(url).call()?.body_mut().read_to_string()?)
    }

    for (server, of_connection, of_http) in servers() {
        let config = ureq::Agent::config_builder().proxy(None);
        let config = config.timeout_global(Some(patience(of_http))).build();
        let agent = config.new_agent();
        let error = get(&agent, &server.url()).unwrap_err();
        assert_eq!(on::transient_io(&error), of_connection, "{error:?}");
        assert_eq!(on::http(&error), of_http, "{error:?}");
        assert_eq!(error.classify(), of_http, "{error:?}");
        let attempts = if of_connection.is_retryable() { 3 } else { 1 };
        assert_eq!(server.accepted(), attempts, "{error:?}");
    }
}

#[tokio::test]
async fn redis_commands_and_connection_errors_are_distinguished() {
    let client = redis::Client::open(format!("redis://{}", closed_port())).unwrap();
    let connection = client.get_multiplexed_async_connection().await;
    let refused = connection.err().unwrap();
    assert_eq!(on::transient_io(&refused), Verdict::TRANSIENT, "{refused}");
    assert_eq!(on::http(&refused), Verdict::STOP, "{refused}");

    // As created by its cluster client, without a source.
    let dropped = redis::RedisError::from((redis::ErrorKind::Io, "connection dropped"));
    assert_eq!(on::transient_io(&dropped), BROKEN);
    let wrong = redis::RedisError::from((redis::ErrorKind::UnexpectedReturnType, "text"));
    assert_eq!(on::transient_io(&wrong), Verdict::STOP);
}
