//! Streams of server-sent events from a loopback server that disconnects, truncates, stalls, or sends an error.

use std::sync::atomic::AtomicUsize;

use futures_util::stream::{Stream, StreamExt, try_unfold};
use reqwest_0_13 as reqwest;
use support::loopback::{Server, read_head};
use support::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The number of events in a stream.
const LENGTH: u32 = 6;

const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Classify)]
enum ModelError {
    #[classify(transparent)]
    Http(reqwest::Error),
    /// As an event in a `200`.
    #[classify(transient)]
    Overloaded,
    #[classify(timeout)]
    Stalled(TimedOut),
}

impl From<reqwest::Error> for ModelError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

impl From<TimedOut> for ModelError {
    fn from(timed_out: TimedOut) -> Self {
        Self::Stalled(timed_out)
    }
}

/// The fault of a connection after some events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The connection breaks between two chunks.
    Disconnect,
    /// The body is shorter than its `Content-Length`.
    Truncate,
    Stall,
    ErrorEvent,
}

const FAULTS: [Fault; 4] = [Fault::Disconnect, Fault::Truncate, Fault::Stall, Fault::ErrorEvent];

/// The fault of each connection, and after how many events of it. What comes after that is whole.
fn failing(faults: impl Into<Vec<(u32, Fault)>>) -> Server {
    let faults = faults.into();
    let count = AtomicUsize::new(0);
    Server::start(move |stream| {
        let nth = count.fetch_add(1, Ordering::Relaxed);
        serve(stream, faults.get(nth).copied())
    })
}

async fn serve(mut socket: TcpStream, fault: Option<(u32, Fault)>) -> io::Result<()> {
    let request = read_head(&mut socket).await?;
    let after = request.split_once("after=").unwrap().1;
    let after: u32 = after.split_once(' ').unwrap().0.parse().unwrap();
    let truncates = matches!(fault, Some((_, Fault::Truncate)));
    let framing = if truncates { "content-length: 4096" } else { "transfer-encoding: chunked" };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{framing}\r\n\r\n");
    socket.write_all(head.as_bytes()).await?;
    let end = fault.map_or(LENGTH, |(events, _)| LENGTH.min(after + events));
    let event = |data: String| {
        let event = format!("data: {data}\n\n");
        if truncates { event } else { format!("{:x}\r\n{event}\r\n", event.len()) }
    };
    for number in after + 1..=end {
        socket.write_all(event(number.to_string()).as_bytes()).await?;
    }
    match fault.map(|(_, fault)| fault) {
        Some(Fault::Disconnect | Fault::Truncate) => return Ok(()),
        Some(Fault::Stall) => pending().await,
        Some(Fault::ErrorEvent) => {
            let error = event(String::from("overloaded"));
            socket.write_all(error.as_bytes()).await?;
        }
        None => {}
    }
    socket.write_all(b"0\r\n\r\n").await
}

thread_local! {
    /// One for all calls of a test, because building one reads the system's certificates.
    static CLIENT: reqwest::Client = reqwest::Client::builder().no_proxy().build().unwrap();
}

/// The events after that number.
async fn events(
    url: &str,
    after: u32,
) -> Result<impl Stream<Item = Result<u32, ModelError>> + Send + use<>, ModelError> {
    let client = CLIENT.with(reqwest::Client::clone);
    let response = client.get(format!("{url}?after={after}")).send().await?;
    let chunks = response.error_for_status()?.bytes_stream().boxed();
    Ok(try_unfold((chunks, String::new()), async |(mut chunks, mut text)| {
        loop {
            if let Some((event, rest)) = text.split_once("\n\n") {
                let data = event.trim_start_matches("data: ");
                let number = data.parse().map_err(|_| ModelError::Overloaded)?;
                return Ok(Some((number, (chunks, rest.to_owned()))));
            }
            match chunks.next().await {
                Some(chunk) => text.push_str(str::from_utf8(&chunk?).unwrap()),
                None => return Ok(None),
            }
        }
    }))
}

#[retry(stream = "first", max = 3, backoff = "none", timeout = TIMEOUT)]
async fn first(
    url: &str,
) -> Result<impl Stream<Item = Result<u32, ModelError>> + Send, ModelError> {
    events(url, 0).await
}

#[retry(stream = "buffer", max = 3, backoff = "none", timeout = TIMEOUT)]
async fn buffer(
    url: &str,
) -> Result<impl Stream<Item = Result<u32, ModelError>> + Send, ModelError> {
    events(url, 0).await
}

#[retry(stream = "resume", max = 3, backoff = "none", timeout = TIMEOUT, attempt = attempt)]
async fn resume(
    url: &str,
) -> Result<impl Stream<Item = Result<u32, ModelError>> + Send, ModelError> {
    events(url, attempt.last_item().copied().unwrap_or(0)).await
}

/// The events, and the error that came after them.
async fn read<E>(stream: impl Stream<Item = Result<u32, E>>) -> (Vec<u32>, Option<E>) {
    let mut stream = std::pin::pin!(stream);
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => seen.push(event),
            Err(error) => return (seen, Some(error)),
        }
    }
    (seen, None)
}

fn is(error: &ModelError, fault: Fault) -> bool {
    match fault {
        Fault::Disconnect | Fault::Truncate => matches!(error, ModelError::Http(_)),
        Fault::Stall => {
            matches!(error, ModelError::Stalled(timed_out) if timed_out.after() == TIMEOUT)
        }
        Fault::ErrorEvent => matches!(error, ModelError::Overloaded),
    }
}

fn whole() -> Vec<u32> {
    (1..=LENGTH).collect()
}

#[tokio::test]
async fn first_retries_faults_before_the_first_event() {
    for fault in FAULTS {
        let server = failing([(0, fault), (0, fault)]);
        let (seen, error) = read(first(&server.url()).await.unwrap()).await;
        assert_eq!((seen, server.accepted()), (whole(), 3), "{fault:?}");
        assert!(error.is_none());
    }
}

#[tokio::test]
async fn first_passes_on_faults_after_the_first_event() {
    for fault in FAULTS {
        let server = failing([(2, fault)]);
        let (seen, error) = read(first(&server.url()).await.unwrap()).await;
        assert_eq!((seen, server.accepted()), (vec![1, 2], 1), "{fault:?}");
        assert!(error.is_some_and(|error| is(&error, fault)), "{fault:?}");
    }
}

#[tokio::test]
async fn buffer_retries_any_fault_without_partial_results() {
    for fault in FAULTS {
        let server = failing([(0, fault), (3, fault)]);
        let (seen, error) = read(buffer(&server.url()).await.unwrap()).await;
        assert_eq!((seen, server.accepted()), (whole(), 3), "{fault:?}");
        assert!(error.is_none());

        let server = failing([(3, fault); 4]);
        let error = buffer(&server.url()).await.err().unwrap();
        assert!(is(&error, fault), "{fault:?}");
        assert_eq!(server.accepted(), 4);
    }
}

#[tokio::test]
async fn resume_asks_for_the_rest() {
    for fault in FAULTS {
        let server = failing([(2, fault), (0, fault), (1, fault)]);
        let (seen, error) = read(resume(&server.url()).await.unwrap()).await;
        assert_eq!((seen, server.accepted()), (whole(), 4), "{fault:?}");
        assert!(error.is_none());

        // An item is progress, after which the retry count restarts.
        let server = failing([(1, fault), (0, fault), (0, fault), (0, fault)]);
        let (seen, error) = read(resume(&server.url()).await.unwrap()).await;
        assert_eq!((seen, server.accepted()), (vec![1], 4));
        assert!(error.is_some_and(|error| is(&error, fault)), "{fault:?}");
    }
}
