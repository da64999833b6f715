//! ureq 3 against real servers on loopback: the classification of each failure, and the number of attempts.

use std::net::{Ipv4Addr, TcpListener, TcpStream};

use retry_runtime::ResponseError;
use support::loopback::{self, Server, attempts, closed_port, status};
use support::prelude::*;
use support::runtime;
use support::verdicts::BROKEN;
use ureq::{Agent, Error, Timeout};

use crate::warnings::{listen, warned};

fn get(agent: &Agent, url: &str) -> Result<String, Error> {
    agent.get(url).call()?.body_mut().read_to_string()
}

fn agent() -> Agent {
    Agent::config_builder().proxy(None).build().new_agent()
}

fn impatient() -> Agent {
    let config = Agent::config_builder().proxy(None);
    let patience = Duration::from_millis(200);
    config.timeout_global(Some(patience)).build().new_agent()
}

fn check(agent: &Agent, url: &str, expected: Verdict) -> Error {
    let call = async || get(agent, url);
    runtime::paused().block_on(loopback::check(expected, Error::classify, call))
}

#[test]
fn a_status_error_has_the_verdict_of_its_status() {
    let table = [
        ("408 Request Timeout", BROKEN),
        ("425 Too Early", Verdict::TRANSIENT),
        ("429 Too Many Requests", Verdict::THROTTLED),
        ("500 Internal Server Error", BROKEN),
        ("502 Bad Gateway", BROKEN),
        ("503 Service Unavailable", BROKEN),
        ("504 Gateway Timeout", BROKEN),
        ("529 Overloaded", BROKEN),
        ("400 Bad Request", Verdict::STOP),
        ("401 Unauthorized", Verdict::STOP),
        ("404 Not Found", Verdict::STOP),
        ("409 Conflict", Verdict::STOP),
        ("501 Not Implemented", Verdict::STOP),
        ("505 HTTP Version Not Supported", Verdict::STOP),
    ];
    for (line, expected) in table {
        let server = Server::answering(status(line));
        let error = check(&agent(), &server.url(), expected);
        assert!(matches!(error, Error::StatusCode(_)), "{error:?}");
        let (idempotent, not) = attempts(expected);
        assert_eq!(server.accepted(), idempotent + not);
    }
}

#[test]
fn the_log_warns_once_of_a_wait_that_is_lost() {
    let answer = "HTTP/1.1 429 Slow\r\nretry-after: 2\r\nconnection: close\r\n\r\n";
    let server = Server::answering(answer);
    let (log, _guard) = listen();
    for _ in 0..2 {
        get_throttled(&agent(), &server.url()).unwrap_err();
    }
    let expected = "throttled, and any Retry-After is lost with the headers: set \
                    `http_status_as_error(false)` and return a `ResponseError` call=throttled";
    assert_eq!(warned(&log), [expected]);
}

#[retry(max = 1, backoff = "none", name = "throttled")]
fn get_throttled(agent: &Agent, url: &str) -> Result<(), Error> {
    agent.get(url).call().map(drop)
}

#[test]
fn no_connection_is_transient() {
    let refused = format!("http://{}/", closed_port());
    check(&agent(), &refused, Verdict::TRANSIENT);
    check(&agent(), "http://no-such-host.invalid/", Verdict::TRANSIENT);
}

#[test]
fn a_broken_connection_is_ambiguous() {
    for answer in
        ["", "HTTP/1.1 200 OK\r\ncontent-le", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123"]
    {
        let server = Server::answering(answer);
        let error = check(&agent(), &server.url(), BROKEN);
        assert!(matches!(error, Error::Io(_)), "{error:?}");
    }
}

#[test]
fn a_timeout_is_a_timeout() {
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123"] {
        let server = Server::stalling_after(answer);
        let error = check(&impatient(), &server.url(), Verdict::TIMEOUT);
        assert!(matches!(error, Error::Timeout(_)), "{error:?}");
    }
}

#[test]
fn a_timeout_in_connecting_or_looking_up_the_host_is_not_ambiguous() {
    // Connections that aren't accepted, until the system's queue is full.
    let full = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = full.local_addr().unwrap();
    let patience = Duration::from_millis(100);
    let waiting: Vec<_> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, patience).ok()).collect();
    assert!(!waiting.is_empty());

    let config = Agent::config_builder().proxy(None);
    let agent = config.timeout_connect(Some(patience)).build().new_agent();
    let error = check(&agent, &format!("http://{address}/"), Verdict::TRANSIENT);
    assert!(matches!(error, Error::Timeout(Timeout::Connect)), "{error:?}");
    // Made by hand: the system's resolver can't be made to stall.
    assert_eq!(Error::Timeout(Timeout::Resolve).classify(), Verdict::TRANSIENT);
}

#[test]
fn other_errors_stop() {
    let garbled = Server::answering("220 mail.example ESMTP\r\n\r\n");
    check(&agent(), &garbled.url(), Verdict::STOP);
    let chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n0123";
    check(&agent(), &Server::answering(chunk).url(), Verdict::STOP);
    check(&agent(), "no address", Verdict::STOP);
    let around =
        "HTTP/1.1 302 Found\r\nlocation: /\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    check(&agent(), &Server::answering(around).url(), Verdict::STOP);
}

/// As in the guide.
#[retry(max = 2, backoff = "none")]
fn get_with_headers(
    agent: &Agent,
    url: &str,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let request = agent.get(url).config().http_status_as_error(false);
    let mut answer = request.build().call()?;
    let body = answer.body_mut().read_to_string();
    if answer.status().is_success() {
        return Ok(body?);
    }
    let (status, headers) = (answer.status(), answer.headers().clone());
    Err(ResponseError::new(status, headers, body.unwrap_or_default()).into())
}

#[test]
fn headers_and_bodies_are_kept_where_a_status_is_an_answer() {
    let answering = |head: &str, body: &str| {
        let framing = "connection: close\r\ncontent-length: 64";
        Server::answering(format!("HTTP/1.1 {head}\r\n{framing}\r\n\r\n{body:<64}"))
    };
    let unpaid = r#"{"error":{"code":"insufficient_quota"}}"#;
    let hint = Duration::from_millis(10);
    let table = [
        (answering("503 -", ""), BROKEN),
        (answering("503 -\r\nretry-after-ms: 10", ""), Verdict::TRANSIENT.after(hint)),
        (answering("429 -", unpaid), Verdict::STOP),
        (answering("429 -\r\nretry-after-ms: 10", ""), Verdict::THROTTLED.after(hint)),
        (answering("404 -", ""), Verdict::STOP),
        // The body breaks off, and the status counts.
        (Server::answering("HTTP/1.1 401 -\r\ncontent-length: 9\r\n\r\nno"), Verdict::STOP),
        (Server::answering("HTTP/1.1 200 -\r\ncontent-length: 9\r\n\r\nno"), BROKEN),
    ];
    for (server, expected) in table {
        let error = get_with_headers(&agent(), &server.url()).unwrap_err();
        assert_eq!(error.classify(), expected, "{error:?}");
        assert_eq!(server.accepted(), attempts(expected).0, "{error:?}");
    }
}

#[test]
fn the_log_shows_no_secrets_of_its_url() {
    let recording = testing::record();
    let url = "http://user:p w@host/v1?key=AIza";
    Policy::none().call_blocking(|| get(&agent(), url)).unwrap_err();
    let line = recording.lines().pop().unwrap();
    assert!(line.contains("error="), "{line}");
    assert!(!line.contains("AIza") && !line.contains("user"), "{line}");
}
