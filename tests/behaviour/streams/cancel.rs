//! A stream that is dropped at any poll releases everything.

use futures::{StreamExt, poll};
use support::prelude::*;

use super::{BUSY, Failure, Item, Open, Server, Step, Wait, items, secs};

/// Drops the stream after each number of polls; returns how many polls it takes to the end.
async fn drop_at_every_poll(server: &Server, open: Open) -> usize {
    for polls in 0.. {
        server.attempts.store(0, Ordering::Relaxed);
        let (mut stream, mut ended) = (open(server), false);
        for _ in 0..polls {
            match poll!(stream.next()) {
                Poll::Ready(None) => ended = true,
                Poll::Ready(Some(_)) => {}
                Poll::Pending => sleep(secs(2)).await,
            }
        }
        assert!(server.open() <= 1);
        drop(stream);
        assert_eq!(server.open(), 0, "after {polls} polls");
        if ended {
            return polls;
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_at_any_poll_releases_everything() {
    let script = vec![Wait(secs(1)), Step::Item(1), Wait(secs(1)), BUSY];
    let server = Server::new([vec![BUSY], script.clone(), script, items(2..=3)]);
    for (mode, open) in modes!(|server| max = 9, base = "1s", timeout = "9s") {
        assert!(drop_at_every_poll(&server, open).await > 4, "{mode}");
    }
}
