//! A server on loopback that fails as told, and counts.

// Every test file uses a part of it.
#![allow(dead_code)]

use std::fmt::Write;
use std::future::pending;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use retry_runtime::Verdict;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Sends these bytes and closes.
    Bytes(String),
    /// Sends these bytes and resets the connection.
    Reset(String),
    /// Sends these bytes and never goes on.
    Stall(String),
    /// Never answers.
    Nothing,
}

/// An answer with this status and body.
pub(crate) fn answer(status: u16, body: &str) -> Answer {
    answer_with(status, &[], body)
}

/// An answer with these headers, too.
pub(crate) fn answer_with(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(head(status, headers, &format!("content-length: {length}")) + body)
}

/// An answer of which a part is missing.
pub(crate) fn cut() -> Answer {
    Answer::Bytes(head(200, &[], "content-length: 99") + "{")
}

/// The connection closes without an answer.
pub(crate) fn closed() -> Answer {
    Answer::Bytes(String::new())
}

/// A stream of these events that ends well, as far as HTTP goes.
pub(crate) fn events(events: &[&str]) -> Answer {
    Answer::Bytes(opened(events) + "0\r\n\r\n")
}

/// A stream of these events whose connection then breaks.
pub(crate) fn broken_events(events: &[&str]) -> Answer {
    Answer::Reset(opened(events))
}

/// A stream of these events that then stalls.
pub(crate) fn stalling_events(events: &[&str]) -> Answer {
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

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Treats the first requests as told, and all later ones as the last of them.
    pub(crate) async fn start(answers: impl Into<Vec<Answer>>) -> Self {
        let answers = answers.into();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(treat(stream, answers.clone(), Arc::clone(&count)));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// One request for a failure that stops, and four under `max = 3` for any other.
    pub(crate) fn assert_attempts(&self, verdict: Verdict) {
        let expected = if verdict.is_retryable() { 4 } else { 1 };
        assert_eq!(self.requests(), expected);
    }
}

async fn treat(
    mut stream: TcpStream,
    answers: Vec<Answer>,
    count: Arc<AtomicUsize>,
) -> io::Result<()> {
    read_request(&mut stream).await?;
    let nth = count.fetch_add(1, Ordering::Relaxed);
    match &answers[nth.min(answers.len() - 1)] {
        Answer::Bytes(bytes) => stream.write_all(bytes.as_bytes()).await,
        Answer::Reset(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            // What was sent is lost if the reset overtakes it.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
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
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap());
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(())
}

/// The address of a port that nobody listens at.
pub(crate) async fn closed_port() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
