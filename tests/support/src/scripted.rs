//! A loopback server with scripted responses that counts requests.

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

/// The server's response to one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Sends these bytes and closes.
    Bytes(String),
    /// Sends these bytes and resets the connection.
    Reset(String),
    /// Sends these bytes and then stalls.
    Stall(String),
    /// Never responds.
    Nothing,
    /// Nobody listens.
    Absent,
}

/// The client's timeout if a response is expected: long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The client's timeout in tests of missing responses.
pub const IMPATIENCE: Duration = Duration::from_millis(300);

impl Answer {
    /// Returns the client's timeout for this response.
    pub fn patience(&self) -> Duration {
        match self {
            Self::Nothing => IMPATIENCE,
            _ => PATIENCE,
        }
    }
}

/// Returns a response with this status and body.
pub fn answer(status: u16, body: &str) -> Answer {
    answer_with(status, &[], body)
}

/// Returns a response with additional headers.
pub fn answer_with(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(head(status, headers, &format!("content-length: {length}")) + body)
}

/// Returns a truncated response.
pub fn cut() -> Answer {
    Answer::Bytes(head(200, &[], "content-length: 99") + "{")
}

/// Closes the connection without a response.
pub fn closed() -> Answer {
    Answer::Bytes(String::new())
}

/// Returns a stream of these events that ends correctly at the HTTP level.
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

/// A server that responds to one request per connection.
pub struct Server {
    /// The server's URL.
    pub url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server that uses these responses in order, and repeats the last one.
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
            // Sent data is lost if the reset overtakes it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.set_zero_linger()
        }
        Answer::Stall(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            pending().await
        }
        Answer::Nothing | Answer::Absent => pending().await,
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

/// Checks that a call with `max = 3` that always gets this response fails with this verdict, and is retried
/// accordingly.
pub async fn check<T, E: Debug>(
    answer: Answer,
    expected: Verdict,
    classify: impl FnOnce(&E) -> Verdict,
    call: impl AsyncFnOnce(&str) -> Result<T, E>,
) {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer.clone()]);
    let is_absent = matches!(answer, Answer::Absent);
    let url = if is_absent {
        closed_port()
    } else {
        server.url.clone()
    };
    let Err(error) = call(&url).await else {
        panic!("{answer:?} is an answer");
    };
    assert_eq!(classify(&error), expected, "{answer:?}: {error:?}");
    if !is_absent {
        server.assert_attempts(expected);
    }
}

/// Awaits `check(answer, verdict)` for each row. `[400, 404] body` stands for an answer with each of these statuses.
#[macro_export]
macro_rules! check_rows {
    ($check:ident:) => {};
    ($check:ident: [$($status:expr),+] $body:expr => $verdict:expr, $($rest:tt)*) => {
        for status in [$($status),+] {
            $check($crate::scripted::answer(status, $body), $verdict).await;
        }
        $crate::check_rows!($check: $($rest)*);
    };
    ($check:ident: $answer:expr => $verdict:expr, $($rest:tt)*) => {
        $check($answer, $verdict).await;
        $crate::check_rows!($check: $($rest)*);
    };
}

/// Returns the address of a port without a listener.
pub fn closed_port() -> String {
    format!("http://{}", loopback::closed_port())
}
