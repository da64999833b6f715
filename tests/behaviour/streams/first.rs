//! Streams with `"first"` are retried until the first item arrives, and never afterwards.

use futures::stream::{self, BoxStream, FusedStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Fail, Failure, Item, MAX, Server, Step, Wait, all, items, secs};

#[retry(stream, max = MAX, backoff = "none")]
fn lazy(server: &Server) -> impl FusedStream<Item = Item> {
    server.lazy()
}

streams! {
    // Even items count.
    #[retry(stream = "first", first = |item| item % 2 == 0, max = MAX, backoff = "none", timeout = "5s")]
    fn chosen;
    #[retry(stream = "first", first = |item| item % 2 == 0, max = MAX, backoff = "none")]
    async fn chosen_eagerly;
}

#[tokio::test]
async fn a_stream_that_ended_has_no_more_items() {
    for (mode, open) in modes!(|server| max = MAX, backoff = "none") {
        for (script, expected) in rows! {
            vec![], vec![];
            items(1..=1), vec![Ok(1)];
            vec![Fail(STOP), Step::Item(1)], vec![Err(STOP)];
        } {
            let server = Server::new([script]);
            let mut stream = open(&server);
            for item in expected {
                assert_eq!(stream.next().await, Some(item), "{mode}");
            }
            for _ in 0..3 {
                assert_eq!(stream.next().await, None, "{mode}");
            }
            assert_eq!((server.attempts(), server.open()), (1, 0), "{mode}");
        }
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll_or_read_ahead() {
    for modes in [
        modes!(first | server | max = MAX, backoff = "none"),
        modes!(resume | server | max = MAX, backoff = "none"),
    ] {
        for (mode, open) in modes {
            let server = Server::new([vec![BUSY], items(1..=9)]);
            let mut stream = open(&server);
            assert_eq!(server.attempts(), 0, "{mode}");
            for asked in 1..=9 {
                assert_eq!(stream.next().await, Some(Ok(asked)), "{mode}");
                assert_eq!(server.pulled(), asked as usize, "{mode}");
            }
        }
    }
    // `"buffer"` reads all of it, and drops it before the first item is seen.
    for (mode, open) in modes!(buffer | server | backoff = "none") {
        let server = Server::new([items(1..=3)]);
        let mut stream = open(&server);
        assert_eq!(stream.next().await, Some(Ok(1)));
        assert_eq!((server.pulled(), server.open()), (3, 0), "{mode}");
    }
}

#[tokio::test]
async fn an_error_after_the_first_item_is_passed_on_and_so_is_what_follows() {
    let server = Server::new([vec![Step::Item(1), BUSY, Step::Item(3)]]);
    let mut stream = lazy(&server);
    assert!(!stream.is_terminated());
    assert_eq!(stream.next().await, Some(Ok(1)));
    assert_eq!(stream.next().await, Some(Err(TRANSIENT)));
    assert_eq!(stream.next().await, Some(Ok(3)));
    for _ in 0..3 {
        assert_eq!(stream.next().await, None);
        assert!(stream.is_terminated());
    }
}

#[tokio::test]
async fn a_static_box_needs_nothing_of_self() {
    struct Client(u32);

    impl Client {
        #[retry(stream = "first", on = |_| true)]
        async fn numbers(&self) -> Result<BoxStream<'static, Result<u32, String>>, String> {
            Ok(stream::iter(0..self.0).map(Ok).boxed())
        }

        #[retry(stream = "buffer", on = |_| true)]
        async fn whole(&self) -> Result<BoxStream<'static, Result<u32, String>>, String> {
            Ok(stream::iter(0..self.0).map(Ok).boxed())
        }
    }

    let (stream, whole) = {
        let client = Client(2);
        (client.numbers().await, client.whole().await)
    };
    assert_eq!(stream.unwrap().collect::<Vec<_>>().await, [Ok(0), Ok(1)]);
    assert_eq!(whole.unwrap().collect::<Vec<_>>().await, [Ok(0), Ok(1)]);
}

#[tokio::test]
async fn arguments_by_value_are_borrowed_by_every_attempt() {
    #[retry(stream, max = MAX, backoff = "none")]
    fn owned(server: Arc<Server>, mut factor: u32) -> impl Stream<Item = Item> + Send {
        factor *= 2;
        let factor = factor;
        server.lazy().map(move |item| Ok(item? * factor))
    }
    let server = Server::new([vec![BUSY], items(1..=2)]);
    assert_eq!(all(owned(server.into(), 1)).await, [Ok(4), Ok(8)]);
}

#[tokio::test(start_paused = true)]
async fn items_before_the_one_that_counts_are_held_back() {
    let stalls = vec![Step::Item(1), Wait(secs(9))];
    let scripts = vec![
        vec![Step::Item(1), Step::Item(3), BUSY],
        stalls,
        vec![Step::Item(5), Step::Item(6), Step::Item(7), BUSY],
    ];
    let server = Server::new(scripts.clone());
    let seen = all(chosen(&server)).await;
    assert_eq!(seen, [Ok(5), Ok(6), Ok(7), Err(TRANSIENT)]);
    assert_eq!(server.attempts(), 3);

    let server = Server::new([scripts[0].clone(), scripts[2].clone()]);
    let stream = chosen_eagerly(&server).await.unwrap();
    // The call waits for the item that counts, and doesn't read beyond it.
    assert_eq!((server.attempts(), server.pulled()), (2, 4));
    assert_eq!(all(stream).await, [Ok(5), Ok(6), Ok(7), Err(TRANSIENT)]);

    // If no item counts, all are yielded at the end.
    let server = Server::new([vec![Step::Item(1), Step::Item(3)]]);
    assert_eq!(all(chosen(&server)).await, [Ok(1), Ok(3)]);
    let stream = chosen_eagerly(&server).await.unwrap();
    assert_eq!(all(stream).await, [Ok(1), Ok(3)]);
    assert_eq!(server.attempts(), 2);
}
