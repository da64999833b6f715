//! rmcp: failures as its client reports them, classified and counted.

use std::sync::atomic::AtomicUsize;

use retry_clients::rmcp::{classify, connecting};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, ServiceError, serve_client};
use serde_json::{Value, json};
use support::check_rows;
use support::loopback::{Server, closed_port, read_head, status};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;

type Client = RunningService<RoleClient, ()>;

/// A server's response to a list of tools: a status, other headers and a body. With status 0, there is no response.
#[derive(Clone, Copy)]
struct Refusal(u16, &'static str, &'static str);

async fn read_message(stream: &mut TcpStream) -> io::Result<Value> {
    let head = read_head(stream).await?.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

fn greeting(message: &Value) -> String {
    let result = json!({
        "protocolVersion": message["params"]["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "A", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()
}

async fn treat(mut stream: TcpStream, refusal: Refusal, lists: Arc<AtomicUsize>) -> io::Result<()> {
    let message = read_message(&mut stream).await?;
    let Refusal(status, headers, body) = refusal;
    let (status, headers, body) = match message["method"].as_str() {
        Some("initialize") => (200, "", greeting(&message)),
        Some("tools/list") => {
            lists.fetch_add(1, Ordering::Relaxed);
            let body = body.replace("ID", &message["id"].to_string());
            (status, headers, body)
        }
        Some(_) => (202, "", String::new()),
        None => (405, "", String::new()),
    };
    if status == 0 {
        return Ok(());
    }
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-type: {kind}\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await
}

#[retry(max = 3, jitter = "none", on = classify)]
async fn tools(client: &Client, count: &mut usize) -> Result<(), ServiceError> {
    *count += 1;
    client.list_tools(None).await.map(drop)
}

async fn check(refusal: Refusal, expected: Verdict) {
    let _skipped = testing::skip_sleeps();
    let lists = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&lists);
    let server = Server::start(move |stream| treat(stream, refusal, Arc::clone(&count)));
    let transport = StreamableHttpClientTransport::from_uri(server.url());
    let client = serve_client((), transport).await.unwrap();
    let error = tools(&client, &mut 0).await.unwrap_err();
    assert_eq!(classify(&error), expected, "{}: {error:?}", refusal.0);
    let attempts = if expected.is_retryable() { 4 } else { 1 };
    assert_eq!(lists.load(Ordering::Relaxed), attempts, "{}", refusal.0);
}

#[tokio::test]
async fn answers() {
    for status in [408, 500, 502, 503, 504] {
        check(Refusal(status, "", "busy"), BROKEN).await;
    }
    for status in [400, 401, 403, 404, 501] {
        check(Refusal(status, "", "no"), Verdict::STOP).await;
    }
    let wait = "retry-after: 2\r\n";
    let hint = Duration::from_secs(2);
    let error = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"no"}}"#;
    check_rows! { check:
        Refusal(425, "", "") => Verdict::TRANSIENT,
        Refusal(429, "", "{}") => Verdict::THROTTLED,
        Refusal(429, wait, "") => Verdict::THROTTLED.after(hint),
        Refusal(503, wait, "") => Verdict::TRANSIENT.after(hint),
        Refusal(404, wait, "") => Verdict::STOP,
        Refusal(0, "", "") => BROKEN,
        Refusal(200, "", error) => Verdict::STOP,
        Refusal(503, "", error) => Verdict::STOP,
    }
}

#[retry(max = 3, jitter = "none", on = connecting)]
async fn connect(url: &str, count: &mut usize) -> Result<Client, ClientInitializeError> {
    *count += 1;
    serve_client((), StreamableHttpClientTransport::from_uri(url)).await
}

#[tokio::test]
async fn connection_errors_are_classified_the_same_way() {
    let _skipped = testing::skip_sleeps();
    for (url, expected) in [
        (format!("http://{}/", closed_port()), Verdict::TRANSIENT),
        (Server::answering("").url(), BROKEN),
        (Server::answering(status("503 -")).url(), BROKEN),
        (Server::answering(status("429 -")).url(), Verdict::THROTTLED),
        (Server::answering(status("404 -")).url(), Verdict::STOP),
    ] {
        let mut count = 0;
        let error = connect(&url, &mut count).await.err().unwrap();
        assert_eq!(connecting(&error), expected, "{error:?}");
        assert_eq!(count, if expected.is_retryable() { 4 } else { 1 });
    }
}

/// A client over a stream, whose server sends a greeting and then runs the function.
async fn over_a_stream<F: Future<Output = ()> + Send + 'static>(
    then: impl FnOnce(DuplexStream) -> F + Send + 'static,
) -> Client {
    let (ours, mut theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.push(theirs.read_u8().await.unwrap());
        }
        let greeting = greeting(&serde_json::from_slice(&line).unwrap()) + "\n";
        theirs.write_all(greeting.as_bytes()).await.unwrap();
        then(theirs).await;
    });
    serve_client((), ours).await.unwrap()
}

#[tokio::test]
async fn a_stream_that_ends_is_ambiguous() {
    let client = over_a_stream(async |mut theirs| {
        // The notification, and the first byte of the request.
        while theirs.read_u8().await.unwrap() != b'\n' {}
        theirs.read_u8().await.unwrap();
    })
    .await;
    let _skipped = testing::skip_sleeps();
    let mut count = 0;
    let error = tools(&client, &mut count).await.unwrap_err();
    assert_eq!((classify(&error), count), (BROKEN, 4), "{error:?}");
}

#[test]
fn no_response_in_time_is_a_timeout() {
    let timeout = Duration::from_secs(1);
    assert_eq!(classify(&ServiceError::Timeout { timeout }), Verdict::TIMEOUT);
    let reason = None;
    assert_eq!(classify(&ServiceError::Cancelled { reason }), Verdict::STOP);
}
