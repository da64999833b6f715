//! `stream = "buffer"`: retried as a whole, without partial results.

use futures::StreamExt;

use super::{Failure, Item, Server, items};

#[tokio::test]
async fn the_inner_stream_is_gone_before_the_first_item_is_seen() {
    for (mode, open) in modes!(buffer | server | backoff = "none") {
        let server = Server::new([items(1..=3)]);
        let mut stream = open(&server);
        assert_eq!(stream.next().await, Some(Ok(1)));
        assert_eq!((server.pulled(), server.open()), (3, 0), "{mode}");
    }
}
