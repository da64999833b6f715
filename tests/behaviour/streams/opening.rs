//! `Result<stream, E>` without the key: the opening alone is retried.

use futures::stream::{BoxStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Failure, Item, MAX, Server, all_of, items};

streams! {
    #[retry(max = MAX, backoff = "none")]
    async fn open;
}

#[retry(max = MAX, backoff = "none")]
fn open_now(server: &Server) -> Result<BoxStream<'_, Item>, Failure> {
    Ok(server.open_now()?.boxed())
}

#[tokio::test]
async fn the_opening_is_retried() {
    let server = Server::refusing(2, [items(1..=2)]);
    assert_eq!(all_of(open(&server).await).await, [Ok(1), Ok(2)]);
    assert_eq!(server.attempts(), 3);
    let server = Server::refusing(MAX + 1, [items(1..=2)]);
    assert_eq!(open_now(&server).err(), Some(TRANSIENT));
    assert_eq!(server.attempts(), MAX + 1);
}

#[tokio::test]
async fn failures_of_the_stream_are_not_retried() {
    let server = Server::new([vec![BUSY]]);
    assert_eq!(all_of(open(&server).await).await, [Err(TRANSIENT)]);
    assert_eq!(all_of(open_now(&server)).await, [Err(TRANSIENT)]);
    assert_eq!(server.attempts(), 2);
}
