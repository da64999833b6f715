//! Loopback servers that handle every connection with a given function. They run in separate threads, so that blocking
//! clients can use them, too, and a paused clock doesn't affect them.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use retry_runtime::{Backoff, Policy, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime;

/// Runs until the process ends.
pub struct Server {
    /// The server's address.
    pub address: SocketAddr,
    accepted: Arc<AtomicU32>,
}

impl Server {
    /// Treats every connection in this way.
    pub fn start<F, R>(treat: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + 'static,
        R: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = listen();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let accepted = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&accepted);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        thread::spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    counter.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(treat(stream));
                }
            });
        });
        Self { address, accepted }
    }

    /// Responds to every request with these bytes, and closes the connection.
    pub fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                read_head(&mut stream).await?;
                stream.write_all(&answer).await
            }
        })
    }

    /// Responds with these bytes, and then stalls.
    pub fn stalling_after(answer: &'static [u8]) -> Self {
        Self::start(move |mut stream| async move {
            read_head(&mut stream).await?;
            stream.write_all(answer).await?;
            pending().await
        })
    }

    /// The server's URL.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The connections so far.
    pub fn accepted(&self) -> u32 {
        self.accepted.load(Ordering::Relaxed)
    }
}

fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

/// Reads a request up to its body.
pub async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Returns a complete response with this status line.
pub fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

/// Returns the address of a port without a listener.
pub fn closed_port() -> SocketAddr {
    listen().local_addr().unwrap()
}

/// The attempts of a call with `max = 2` that always fails so, and of one with `idempotent = false`, too.
pub fn attempts(verdict: Verdict) -> (u32, u32) {
    match verdict {
        verdict if !verdict.is_retryable() => (1, 1),
        verdict if verdict.is_ambiguous() => (3, 1),
        _ => (3, 3),
    }
}

/// Checks the verdict on a call that always fails so, and how often it is made. Returns the error.
pub async fn check<T, E: Debug>(
    expected: Verdict,
    classify: impl Fn(&E) -> Verdict,
    call: impl AsyncFn() -> Result<T, E>,
) -> E {
    let (made, once) = attempts(expected);
    for (is_idempotent, made) in [(false, once), (true, made)] {
        let count = Cell::new(0);
        let policy = Policy::none().max(2).backoff(Backoff::None);
        let policy = policy.on(&classify).idempotent(is_idempotent);
        let called = policy.call(async || {
            count.set(count.get() + 1);
            call().await
        });
        let error = called.await.err().unwrap();
        assert_eq!(classify(&error), expected, "{error:?}");
        assert_eq!(count.get(), made, "{error:?}");
        if is_idempotent {
            return error;
        }
    }
    unreachable!()
}
