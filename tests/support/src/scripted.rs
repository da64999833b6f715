//! A server on loopback that answers requests as told, and counts them.

use std::fmt::{Debug, Write};
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use retry_runtime::{Verdict, testing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::loopback::{self, read_head};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Sends these bytes and closes.
    Bytes(String),
    /// Sends these bytes and resets the connection.
    Reset(String),
    /// Sends these bytes and never goes on.
    Stall(String),
    /// Never answers.
    Nothing,
}

/// How long a client waits for what comes: long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits where the silence is what is tested.
pub const IMPATIENCE: Duration = Duration::from_millis(300);

impl Answer {
    /// How long a client waits for it.
    pub fn patience(&self) -> Duration {
        match self {
            Self::Nothing => IMPATIENCE,
            _ => PATIENCE,
        }
    }
}

/// An answer with this status and body.
pub fn answer(status: u16, body: &str) -> Answer {
    answer_with(status, &[], body)
}

/// An answer with these headers, too.
pub fn answer_with(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(head(status, headers, &format!("content-length: {length}")) + body)
}

/// An answer that is cut off.
pub fn cut() -> Answer {
    Answer::Bytes(head(200, &[], "content-length: 99") + "{")
}

/// The connection closes without an answer.
pub fn closed() -> Answer {
    Answer::Bytes(String::new())
}

/// A stream of these events that ends well, as far as HTTP goes.
pub fn events(events: &[&str]) -> Answer {
    Answer::Bytes(opened(events) + "0\r\n\r\n")
}

/// A stream of these events whose connection then breaks.
pub fn broken_events(events: &[&str]) -> Answer {
    Answer::Reset(opened(events))
}

/// A stream of these events that then stalls.
pub fn stalling_events(events: &[&str]) -> Answer {
    Answer::Stall(opened(events))
}

fn opened(events: &[&str]) -> String {
    let mut bytes = head(
        200,
        &[("content-type", "text/event-stream")],
        "transfer-encoding: chunked",
    );
    for event in events {
        let event = format!("{event}\n\n");
        write!(bytes, "{:x}\r\n{event}\r\n", event.len()).unwrap();
    }
    bytes
}

fn head(status: u16, headers: &[(&str, &str)], framing: &str) -> String {
    let mut head = format!("HTTP/1.1 {status} -\r\n{framing}\r\nconnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "content-type") {
        head += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head + "\r\n"
}

/// Answers one request per connection.
pub struct Server {
    /// Where a client finds it.
    pub url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Treats the first requests as told, and all later ones as the last of them.
    pub fn start(answers: impl Into<Vec<Answer>>) -> Self {
        let answers: Arc<[Answer]> = answers.into().into();
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        let server = loopback::Server::start(move |stream| {
            treat(stream, Arc::clone(&answers), Arc::clone(&count))
        });
        let url = format!("http://{}", server.address);
        Self { url, requests }
    }

    /// The requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// One request for a failure that stops, and four under `max = 3` for any other.
    pub fn assert_attempts(&self, verdict: Verdict) {
        let expected = if verdict.is_retryable() { 4 } else { 1 };
        assert_eq!(self.requests(), expected);
    }
}

async fn treat(
    mut stream: TcpStream,
    answers: Arc<[Answer]>,
    count: Arc<AtomicUsize>,
) -> io::Result<()> {
    read_request(&mut stream).await?;
    let nth = count.fetch_add(1, Ordering::Relaxed);
    match &answers[nth.min(answers.len() - 1)] {
        Answer::Bytes(bytes) => stream.write_all(bytes.as_bytes()).await,
        Answer::Reset(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            // What was sent is lost if the reset overtakes it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.set_zero_linger()
        }
        Answer::Stall(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            pending().await
        }
        Answer::Nothing => pending().await,
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<()> {
    let head = read_head(stream).await?.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap());
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(())
}

/// A call with `max = 3` that meets this answer and no other fails with that verdict, and was retried accordingly.
pub async fn check<T, E: Debug>(
    answer: Answer,
    expected: Verdict,
    classify: impl FnOnce(&E) -> Verdict,
    call: impl AsyncFnOnce(&str) -> Result<T, E>,
) {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer.clone()]);
    let Err(error) = call(&server.url).await else {
        panic!("{answer:?} is an answer");
    };
    assert_eq!(classify(&error), expected, "{answer:?}: {error:?}");
    server.assert_attempts(expected);
}

/// The address of a port that nobody listens at.
pub fn closed_port() -> String {
    format!("http://{}", loopback::closed_port())
}
