//! Servers on loopback that treat every connection as told. They run in threads, so that blocking clients can use
//! them, too.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use retry_runtime::Verdict;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicU32>,
}

impl Server {
    pub(crate) fn start(
        treat: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&accepted);
        let treat = Arc::new(treat);
        thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::Relaxed);
                let treat = Arc::clone(&treat);
                thread::spawn(move || treat(stream.unwrap()));
            }
        });
        Self { address, accepted }
    }

    /// Answers every request with these bytes, and closes.
    pub(crate) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut stream| {
            read_head(&mut stream)?;
            stream.write_all(&answer)
        })
    }

    /// Answers with these bytes, and never goes on.
    pub(crate) fn stalling_after(answer: &'static [u8]) -> Self {
        Self::start(move |mut stream| {
            read_head(&mut stream)?;
            stream.write_all(answer)?;
            loop {
                thread::park();
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn accepted(&self) -> u32 {
        self.accepted.load(Ordering::Relaxed)
    }
}

/// The whole of an answer with that status line.
pub(crate) fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

/// The address of a port that nobody listens at.
pub(crate) fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

/// The attempts of a call with `max = 2` that always fails so, and of one with `idempotent = false`, too.
pub(crate) fn attempts(verdict: Verdict) -> (u32, u32) {
    match verdict {
        verdict if !verdict.is_retryable() => (1, 1),
        verdict if verdict.is_ambiguous() => (3, 1),
        _ => (3, 3),
    }
}

fn read_head(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(())
}
