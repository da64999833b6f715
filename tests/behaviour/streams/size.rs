//! Size hints hold at every step of every mode.

use futures::stream::{Stream, StreamExt};
use retry_runtime::retry;

use super::{BUSY, Failure, Item, MAX, Server, items, secs};

#[retry(stream = "first", max = MAX, backoff = "none")]
fn first(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "first", max = MAX, backoff = "none")]
async fn first_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "first", max = MAX, backoff = "none", timeout = "1s")]
fn first_in_time(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", max = MAX, backoff = "none")]
fn buffer(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", max = MAX, backoff = "none")]
async fn buffer_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "resume", max = MAX, backoff = "none", attempt = attempt)]
fn resume(server: &Server) -> impl Stream<Item = Item> {
    super::rest(server.lazy(), attempt.yielded())
}

/// The hints before each item and after the last.
async fn hints(stream: impl Stream<Item = Item>) -> Vec<(usize, Option<usize>)> {
    let mut stream = std::pin::pin!(stream);
    let mut hints = vec![stream.size_hint()];
    let mut left = Vec::new();
    while stream.next().await.is_some() {
        hints.push(stream.size_hint());
        left.push(());
    }
    hints.push(stream.size_hint());
    for (index, (least, most)) in hints.iter().enumerate() {
        let left = left.len().saturating_sub(index);
        assert!(*least <= left && most.is_none_or(|most| left <= most));
    }
    hints
}

fn exact(left: usize) -> (usize, Option<usize>) {
    (left, Some(left))
}

const UNKNOWN: (usize, Option<usize>) = (0, None);

#[tokio::test]
async fn what_is_known_is_told() {
    let server = || Server::new([vec![BUSY], items(1..=3)]);
    let then = [exact(2), exact(1), exact(0), exact(0)];
    let after = |before| [&[before], &then[..]].concat();
    assert_eq!(hints(first(&server())).await, after(UNKNOWN));
    assert_eq!(
        hints(first_awaited(&server()).await.unwrap()).await,
        after(exact(3))
    );
    assert_eq!(hints(buffer(&server())).await, after(UNKNOWN));
    assert_eq!(
        hints(buffer_awaited(&server()).await.unwrap()).await,
        after(exact(3))
    );
    let end = exact(0);
    assert_eq!(
        hints(resume(&server())).await,
        [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, end]
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_may_end_it_early() {
    let mut steps = items(1..=3);
    steps.insert(1, super::Wait(secs(9)));
    let server = Server::new([steps]);
    assert_eq!(
        hints(first_in_time(&server)).await,
        [UNKNOWN, (0, Some(3)), exact(0), exact(0)]
    );
}
