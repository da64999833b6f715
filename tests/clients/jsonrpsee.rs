//! jsonrpsee: failures as its clients report them, classified and counted.

use jsonrpsee_client_transport::ws::WsHandshakeError;
use jsonrpsee_core::ClientError;
use jsonrpsee_core::client::ClientT;
use jsonrpsee_core::params::ArrayParams;
use jsonrpsee_http_client::{HttpClient, HttpClientBuilder};
use jsonrpsee_ws_client::WsClientBuilder;
use retry_clients::jsonrpsee::classify;
use soketto::handshake::server::Response;
use support::check_rows;
use support::loopback;
use support::prelude::*;
use support::scripted::{Answer, IMPATIENCE, PATIENCE, Server, answer, closed, closed_port, cut};
use support::verdicts::BROKEN;
use tokio::net::TcpStream;
use tokio_util::compat::TokioAsyncReadCompatExt;

struct Node(HttpClient);

impl Node {
    fn at(url: &str, patience: Duration) -> Self {
        let builder = HttpClientBuilder::default().request_timeout(patience);
        Self(builder.build(url).unwrap())
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn height(&self) -> Result<u64, ClientError> {
        self.0.request("height", ArrayParams::new()).await
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn note(&self) -> Result<(), ClientError> {
        self.0.notification("note", ArrayParams::new()).await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    let patience = answer.patience();
    let call = async |url: &str| Node::at(url, patience).height().await;
    scripted::check(answer, expected, classify, call).await;
}

async fn check_note(answer: Answer, expected: Verdict) {
    let patience = answer.patience();
    let call = async |url: &str| Node::at(url, patience).note().await;
    scripted::check(answer, expected, classify, call).await;
}

/// Returns responses with an error for any request: this client numbers requests from 0.
fn refusals(error: &str) -> Vec<Answer> {
    let refusal = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    (0..4).map(|id| answer(200, &refusal(id))).collect()
}

async fn check_refusal(error: &str, expected: Verdict) {
    let _skipped = testing::skip_sleeps();
    let server = Server::start(refusals(error));
    let node = Node::at(&server.url, PATIENCE);
    let failure = node.height().await.unwrap_err();
    assert_eq!(classify(&failure), expected, "{error}: {failure:?}");
    server.assert_attempts(expected);
}

#[tokio::test]
async fn answers() {
    check_rows! { check:
        [408, 500, 502, 503, 504] "busy" => BROKEN,
        [425] "" => Verdict::TRANSIENT,
        [429] "" => Verdict::THROTTLED,
        [400, 401, 403, 404, 413, 501] "no" => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        Answer::Absent => Verdict::TRANSIENT,
        [200] "no JSON" => Verdict::STOP,
        [200] "{}" => Verdict::STOP,
    }
    check_rows! { check_note:
        [503] "" => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        [404] "" => Verdict::STOP,
    }
}

#[tokio::test]
async fn errors_by_their_code_and_message() {
    let of = |code: i32, message: &str| format!(r#"{{"code":{code},"message":"{message}"}}"#);
    let busy = of(-32009, "Server is busy, try again later");
    check_refusal(&busy, Verdict::TRANSIENT).await;
    for (code, message) in [
        (429, "Your app has exceeded its compute units per second"),
        (-32005, "project ID request rate exceeded"),
        (-32016, "Over the rate limit"),
        (-32012, "credits limited to 6000/sec"),
        (-32005, "You've exceeded the RPS limit of the current plan."),
        (-32007, "20/second request limit reached"),
        (-32000, "Too Many Requests"),
    ] {
        check_refusal(&of(code, message), Verdict::THROTTLED).await;
    }
    for (code, message) in [
        (-32700, "Parse error"),
        (-32600, "Invalid request"),
        (-32601, "Method not found"),
        (-32602, "Invalid params"),
        (-32603, "Internal error"),
        (-32000, "execution reverted"),
        (-32000, "execution reverted: mint rate limit exceeded"),
        (3, "too many requests"),
        (-32005, "query returned more than 10000 results"),
        (-32005, "daily request count exceeded, request rate limited"),
        (429, "Monthly capacity limit exceeded."),
        (429, "Request limit of 100000 per day exceeded"),
        (-32005, "request limit per week reached"),
        (429, "Insufficient credits"),
        (-32007, "Request is too big"),
    ] {
        check_refusal(&of(code, message), Verdict::STOP).await;
    }
}

#[tokio::test]
async fn hints() {
    let of = |wait: &str| {
        format!(
            r#"{{"code":-32005,"message":"project ID request rate exceeded","data":{{"rate":{{"backoff_seconds":{wait}}}}}}}"#
        )
    };
    let hint = |wait| Verdict::THROTTLED.after(Duration::from_millis(wait));
    check_refusal(&of("2"), hint(2000)).await;
    check_refusal(&of("1.5"), hint(1500)).await;
    let in_text = r#"{"code":429,"message":"rate limit exceeded, try again in 3s"}"#;
    check_refusal(in_text, hint(3000)).await;
    for no_wait in ["-1", "1e300", "null", r#""soon""#, "{}"] {
        check_refusal(&of(no_wait), Verdict::THROTTLED).await;
    }
}

/// The limits of a web socket client.
#[derive(Clone, Copy)]
struct Limits {
    handshake: Duration,
    answer: Duration,
    request_size: u32,
    answer_size: u32,
}

fn limits() -> Limits {
    Limits { handshake: PATIENCE, answer: PATIENCE, request_size: 1000, answer_size: 1000 }
}

/// Each attempt opens a new connection.
#[retry(max = 3, jitter = "none", on = classify)]
async fn height_over_web_socket(url: &str, limits: Limits) -> Result<u64, ClientError> {
    let builder = WsClientBuilder::default()
        .connection_timeout(limits.handshake)
        .request_timeout(limits.answer)
        .max_request_size(limits.request_size)
        .max_response_size(limits.answer_size);
    let client = builder.build(url).await?;
    client.request("height", ArrayParams::new()).await
}

async fn check_web_socket(url: &str, limits: Limits, expected: Verdict) {
    let _skipped = testing::skip_sleeps();
    let error = height_over_web_socket(url, limits).await.unwrap_err();
    assert_eq!(classify(&error), expected, "{url}: {error:?}");
}

#[tokio::test]
async fn handshakes_of_web_sockets() {
    for (answer, expected) in [
        (answer(503, ""), Verdict::TRANSIENT),
        (answer(429, ""), Verdict::THROTTLED),
        (answer(404, ""), Verdict::STOP),
        (closed(), Verdict::TRANSIENT),
        (Answer::Nothing, Verdict::TRANSIENT),
        (Answer::Bytes(String::from("no HTTP\r\n\r\n")), Verdict::STOP),
    ] {
        let limits = Limits { handshake: answer.patience(), ..limits() };
        let server = Server::start([answer]);
        check_web_socket(&server.url.replace("http", "ws"), limits, expected).await;
        server.assert_attempts(expected);
    }
}

#[tokio::test]
async fn web_sockets_without_a_server() {
    let closed = closed_port().replace("http", "ws");
    for (url, expected) in [
        (&*closed, Verdict::TRANSIENT),
        ("ws://no-such-host.invalid", Verdict::TRANSIENT),
        (&closed_port(), Verdict::STOP),
        ("no address", Verdict::STOP),
    ] {
        check_web_socket(url, limits(), expected).await;
    }
}

#[test]
fn web_sockets_whose_connection_fails() {
    let untrusted = "invalid peer certificate: UnknownIssuer";
    for (error, expected) in [
        (io::ErrorKind::TimedOut.into(), Verdict::TRANSIENT),
        (io::Error::new(io::ErrorKind::InvalidData, untrusted), Verdict::STOP),
    ] {
        let error = ClientError::Transport(WsHandshakeError::Io(error).into());
        assert_eq!(classify(&error), expected, "{error:?}");
    }
}

/// Accepts one request, responds, and closes the connection.
fn web_sockets(answer: Answer) -> loopback::Server {
    loopback::Server::start(move |stream| treat(stream, answer.clone()))
}

async fn treat(stream: TcpStream, answer: Answer) -> io::Result<()> {
    let mut server = soketto::handshake::Server::new(stream.compat());
    let request = server.receive_request().await.map_err(io::Error::other)?;
    let accepted = Response::Accept { key: request.key(), protocol: None };
    let sent = server.send_response(&accepted).await;
    sent.map_err(io::Error::other)?;
    let (mut sender, mut receiver) = server.into_builder().finish();
    let received = receiver.receive_data(&mut Vec::new()).await;
    received.map_err(io::Error::other)?;
    let Answer::Bytes(text) = answer else { pending().await };
    if !text.is_empty() {
        sender.send_text(text).await.map_err(io::Error::other)?;
        sender.flush().await.map_err(io::Error::other)?;
    }
    Ok(())
}

#[tokio::test]
async fn requests_over_web_sockets() {
    let height = || Answer::Bytes(String::from(r#"{"jsonrpc":"2.0","id":0,"result":1}"#));
    for (answer, limits, expected) in [
        (closed(), limits(), BROKEN),
        (Answer::Nothing, Limits { answer: IMPATIENCE, ..limits() }, Verdict::TIMEOUT),
        // Messages that are too large.
        (height(), Limits { request_size: 10, ..limits() }, Verdict::STOP),
        (height(), Limits { answer_size: 10, ..limits() }, Verdict::STOP),
    ] {
        let server = web_sockets(answer);
        check_web_socket(&format!("ws://{}", server.address), limits, expected).await;
        assert_eq!(server.accepted(), if expected.is_retryable() { 4 } else { 1 });
    }
}
