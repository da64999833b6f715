//! The key `fallback` on a stream: another stream is used if no item was yielded.

use futures::stream::{BoxStream, Stream, StreamExt};
use retry_runtime::{GaveUp, Reason, retry, testing};

use super::{BUSY, Fail, Failure, Item, Server, Step, Wait, all, all_of, items, secs};

/// A server, and another to turn to.
struct Servers {
    first: Server,
    other: Server,
}

impl Servers {
    fn new(first: Vec<Step>, other: Vec<Step>) -> Self {
        Self {
            first: Server::new([first]),
            other: Server::new([other]),
        }
    }

    fn attempts(&self) -> (u32, u32) {
        (self.first.attempts(), self.other.attempts())
    }

    async fn turn(&self, gave_up: GaveUp<Failure>) -> Result<impl Stream<Item = Item>, Failure> {
        match gave_up.reason() {
            Reason::Exhausted => self.other.connect().await,
            _ => Err(gave_up.into_error()),
        }
    }

    #[retry(
        stream = "first",
        max = 2,
        backoff = "none",
        fallback = async |gave_up| self.turn(gave_up).await
    )]
    fn first(&self) -> impl Stream<Item = Item> {
        self.first.lazy()
    }

    #[retry(
        stream = "first",
        max = 2,
        backoff = "none",
        fallback = async |gave_up| self.turn(gave_up).await
    )]
    async fn first_awaited(&self) -> Result<BoxStream<'_, Item>, Failure> {
        Ok(self.first.connect().await?.boxed())
    }

    #[retry(
        stream = "buffer",
        max = 2,
        backoff = "none",
        fallback = async |gave_up| self.turn(gave_up).await
    )]
    fn buffer(&self) -> BoxStream<'_, Item> {
        self.first.lazy().boxed()
    }

    #[retry(
        stream = "buffer",
        max = 2,
        backoff = "none",
        fallback = async |gave_up| self.turn(gave_up).await
    )]
    async fn buffer_awaited(&self) -> Result<impl Stream<Item = Item>, Failure> {
        self.first.connect().await
    }
}

/// Returns the items of each function, with the attempts at both servers.
async fn seen(first: &[Step], other: &[Step]) -> [(Vec<Item>, (u32, u32)); 4] {
    let servers = [(); 4].map(|()| Servers::new(first.to_vec(), other.to_vec()));
    let items = [
        all(servers[0].first()).await,
        all_of(servers[1].first_awaited().await).await,
        all(servers[2].buffer()).await,
        all_of(servers[3].buffer_awaited().await).await,
    ];
    let mut servers = servers.iter();
    items.map(|items| (items, servers.next().unwrap().attempts()))
}

#[tokio::test]
async fn a_failed_call_continues_with_another_stream() {
    let expected = (vec![Ok(7), Ok(8)], (3, 1));
    for seen in seen(&[BUSY], &items(7..=8)).await {
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn the_fallback_is_not_called_if_an_attempt_succeeds() {
    for seen in seen(&items(1..=2), &items(7..=8)).await {
        assert_eq!(seen, (vec![Ok(1), Ok(2)], (1, 0)));
    }
}

#[tokio::test]
async fn the_fallback_may_fail() {
    for seen in seen(&[Fail(Failure::Fatal)], &items(7..=8)).await {
        assert_eq!(seen, (vec![Err(Failure::Fatal)], (1, 0)));
    }
}

/// Items that were yielded can't be taken back: only `"buffer"` holds items back.
#[tokio::test]
async fn an_error_after_the_first_item_does_not_call_the_fallback() {
    let broken = [Step::Item(1), BUSY];
    let [first, first_awaited, buffer, buffer_awaited] = seen(&broken, &items(7..=8)).await;
    for seen in [first, first_awaited] {
        assert_eq!(seen, (vec![Ok(1), Err(Failure::Busy)], (1, 0)));
    }
    for seen in [buffer, buffer_awaited] {
        assert_eq!(seen, (vec![Ok(7), Ok(8)], (3, 1)));
    }
}

#[tokio::test]
async fn the_other_stream_is_not_retried() {
    for seen in seen(&[BUSY], &[Fail(Failure::Slow)]).await {
        assert_eq!(seen, (vec![Err(Failure::Slow)], (3, 1)));
    }
    let [first, first_awaited, buffer, buffer_awaited] =
        seen(&[BUSY], &[Step::Item(7), Fail(Failure::Slow)]).await;
    for seen in [first, first_awaited] {
        assert_eq!(seen, (vec![Ok(7), Err(Failure::Slow)], (3, 1)));
    }
    for seen in [buffer, buffer_awaited] {
        assert_eq!(seen, (vec![Err(Failure::Slow)], (3, 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_attempts_and_not_the_other_stream() {
    #[retry(
        stream,
        max = 1,
        backoff = "none",
        timeout = "5s",
        fallback = async |_| Ok(servers.other.lazy())
    )]
    fn stream(servers: &Servers) -> impl Stream<Item = Item> {
        servers.first.lazy()
    }
    let start = tokio::time::Instant::now();
    let servers = Servers::new(
        vec![Wait(secs(60)), Step::Item(1)],
        vec![Wait(secs(60)), Step::Item(7), Wait(secs(60)), Step::Item(8)],
    );
    assert_eq!(all(stream(&servers)).await, [Ok(7), Ok(8)]);
    assert_eq!(servers.attempts(), (2, 1));
    assert_eq!(start.elapsed(), secs(5 + 5 + 60 + 60));
}

#[tokio::test]
async fn the_fallback_is_reported_at_its_first_item() {
    for (other, told) in [(items(7..=8), "fell back"), (vec![BUSY], "gave up")] {
        let recording = testing::record();
        let servers = Servers::new(vec![BUSY], other);
        let mut stream = Box::pin(servers.first());
        assert!(recording.lines().is_empty());
        stream.next().await;
        let lines = recording.lines();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[3].starts_with(told), "{lines:?}");
    }
}

#[tokio::test]
async fn a_stream_dropped_at_any_time_leaves_no_stream_open() {
    let servers = Servers::new(vec![BUSY], items(7..=9));
    for pulls in 0..=3 {
        let mut stream = Box::pin(servers.first());
        for _ in 0..pulls {
            stream.next().await;
        }
        drop(stream);
        assert_eq!((servers.first.open(), servers.other.open()), (0, 0));
    }
}

#[test]
fn the_future_with_a_fallback_is_send() {
    fn assert_send<T: Send>(_: T) {}
    let servers = Servers::new(vec![], vec![]);
    assert_send(servers.first());
    assert_send(servers.first_awaited());
    assert_send(servers.buffer());
    assert_send(servers.buffer_awaited());
}
