//! `stream = "buffer"`: retried as a whole, without partial results.

use futures::stream::{Stream, StreamExt};
use retry_runtime::retry;

use super::{BUSY, Failure, Item, MAX, Server, Step, all, all_of, items};

#[retry(stream = "buffer", max = MAX, backoff = "none")]
fn lazy(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", max = MAX, backoff = "none")]
async fn eager(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

fn breaks_after(good: u32) -> Vec<Step> {
    let mut steps = items(1..=good);
    steps.push(BUSY);
    steps
}

#[tokio::test]
async fn an_attempt_that_breaks_is_forgotten() {
    for last in [0, 1, 5] {
        let scripts = || [breaks_after(3), breaks_after(1), items(1..=last)];
        let expected: Vec<Item> = (1..=last).map(Ok).collect();
        let server = Server::new(scripts());
        assert_eq!(all(lazy(&server)).await, expected);
        assert_eq!(server.attempts(), 3);
        let server = Server::new(scripts());
        assert_eq!(all_of(eager(&server).await).await, expected);
        assert_eq!(server.attempts(), 3);
    }
}

#[tokio::test]
async fn a_stream_that_never_succeeds_yields_only_its_error() {
    let server = Server::new([breaks_after(3)]);
    assert_eq!(all(lazy(&server)).await, [Err(Failure::Busy)]);
    assert_eq!(server.attempts(), MAX + 1);
    let server = Server::new([breaks_after(3)]);
    assert_eq!(eager(&server).await.err(), Some(Failure::Busy));
    assert_eq!(server.attempts(), MAX + 1);
}

#[tokio::test]
async fn the_inner_stream_is_gone_before_the_first_item_is_seen() {
    let server = Server::new([items(1..=3)]);
    let mut stream = std::pin::pin!(lazy(&server));
    assert_eq!(stream.next().await, Some(Ok(1)));
    assert_eq!((server.pulled(), server.open()), (3, 0));
}

#[tokio::test]
async fn a_buffered_stream_is_fused() {
    let server = Server::new([items(1..=1)]);
    let mut stream = std::pin::pin!(lazy(&server));
    assert_eq!(stream.next().await, Some(Ok(1)));
    for _ in 0..3 {
        assert_eq!(stream.next().await, None);
    }
}
