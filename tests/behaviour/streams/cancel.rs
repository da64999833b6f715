//! A stream that is dropped at any poll releases everything.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::stream::Stream;
use retry_runtime::retry;

use super::{BUSY, Item, Server, Wait, items, secs};

#[retry(stream = "first", max = 9, base = "1s", timeout = "9s")]
fn first(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", max = 9, base = "1s", timeout = "9s")]
fn buffer(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "resume", max = 9, base = "1s", timeout = "9s", attempt = attempt)]
fn resume(server: &Server) -> impl Stream<Item = Item> {
    let _ = attempt.yielded();
    server.lazy()
}

/// Drops the stream after each number of polls; returns how many polls it takes to the end.
async fn drop_at_every_poll<'a, S>(server: &'a Server, make: impl Fn(&'a Server) -> S) -> usize
where
    S: Stream<Item = Item> + 'a,
{
    for polls in 0.. {
        server
            .attempts
            .store(0, std::sync::atomic::Ordering::Relaxed);
        let mut ended = false;
        {
            let mut stream = pin!(make(server));
            for _ in 0..polls {
                let mut context = Context::from_waker(Waker::noop());
                match stream.as_mut().poll_next(&mut context) {
                    Poll::Ready(None) => ended = true,
                    Poll::Ready(Some(_)) => {}
                    Poll::Pending => tokio::time::sleep(secs(2)).await,
                }
            }
            assert!(server.open() <= 1);
        }
        assert_eq!(server.open(), 0, "after {polls} polls");
        if ended {
            return polls;
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_at_any_poll_releases_everything() {
    let script = [Wait(secs(1)), super::Step::Item(1), Wait(secs(1)), BUSY];
    let server = Server::new([vec![BUSY], script.to_vec(), script.to_vec(), items(2..=3)]);
    assert!(drop_at_every_poll(&server, first).await > 4);
    assert!(drop_at_every_poll(&server, buffer).await > 4);
    assert!(drop_at_every_poll(&server, resume).await > 4);
}
