//! `timeout` is the time until the attempt succeeds, and then until each next item, while the consumer waits for it.

use futures::stream::{LocalBoxStream, Stream, StreamExt, TryStreamExt, once};
use retry_runtime::retry;
use tokio::time::{Instant, sleep};

use super::{BUSY, Failure, Item, Server, Step, Wait, all, all_of, items, secs};

#[retry(stream = "first", max = 2, backoff = "none", timeout = "5s")]
fn first(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "first", max = 2, backoff = "none", timeout = "5s")]
async fn awaited(server: &Server, slow: u64) -> Result<impl Stream<Item = Item>, Failure> {
    sleep(secs(slow)).await;
    server.connect().await
}

#[retry(stream = "buffer", max = 2, backoff = "none", timeout = "5s")]
fn buffer(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "resume", max = 2, backoff = "none", timeout = "5s", attempt = attempt)]
fn resume(server: &Server) -> impl Stream<Item = Item> {
    super::rest(server.lazy(), attempt.yielded())
}

/// Stalls after that many items.
fn stalls_after(good: u32) -> Vec<Step> {
    let mut steps = items(1..=good);
    steps.push(Wait(secs(3600)));
    steps.extend(items(good + 1..=9));
    steps
}

#[tokio::test(start_paused = true)]
async fn a_first_item_that_stalls_is_retried() {
    let server = Server::new([stalls_after(0), stalls_after(0), items(1..=2)]);
    let start = Instant::now();
    assert_eq!(all(first(&server)).await, [Ok(1), Ok(2)]);
    assert_eq!((server.attempts(), start.elapsed()), (3, secs(10)));
}

#[tokio::test(start_paused = true)]
async fn a_later_item_that_stalls_ends_first_with_the_timeout() {
    let server = Server::new([stalls_after(2)]);
    let start = Instant::now();
    assert_eq!(
        all(first(&server)).await,
        [Ok(1), Ok(2), Err(Failure::Slow)]
    );
    assert_eq!((server.attempts(), start.elapsed()), (1, secs(5)));
    assert_eq!(server.open(), 0);

    let stream = awaited(&server, 4).await.unwrap();
    assert_eq!(all(stream).await, [Ok(1), Ok(2), Err(Failure::Slow)]);
    assert_eq!((server.attempts(), start.elapsed()), (2, secs(14)));
}

#[tokio::test(start_paused = true)]
async fn a_slow_opening_is_dropped() {
    let server = Server::new([items(1..=2)]);
    let start = Instant::now();
    assert_eq!(
        all_of(awaited(&server, 6).await).await,
        [Err(Failure::Slow)]
    );
    assert_eq!((server.attempts(), start.elapsed()), (0, secs(15)));
}

/// The opening takes of it, and so does every item before the one that counts.
#[tokio::test(start_paused = true)]
async fn an_attempt_has_one_time_until_it_succeeds() {
    async fn open(server: &Server, slow: u64) -> Result<impl Stream<Item = Item>, Failure> {
        sleep(secs(slow)).await;
        server.connect().await
    }

    #[retry(
        stream = "first",
        first = |item| *item > 2,
        max = 1,
        backoff = "none",
        timeout = "10s",
        idle_timeout = "5s"
    )]
    async fn first(server: &Server, slow: u64) -> Result<impl Stream<Item = Item>, Failure> {
        open(server, slow).await
    }

    #[retry(
        stream = "buffer",
        max = 1,
        backoff = "none",
        timeout = "10s",
        idle_timeout = "5s"
    )]
    async fn buffer(server: &Server, slow: u64) -> Result<impl Stream<Item = Item>, Failure> {
        open(server, slow).await
    }

    #[retry(
        stream = "resume",
        attempt = _attempt,
        max = 1,
        backoff = "none",
        timeout = "10s",
        idle_timeout = "5s"
    )]
    async fn resume(server: &Server, slow: u64) -> Result<impl Stream<Item = Item>, Failure> {
        open(server, slow).await
    }

    type Open = for<'a> fn(&'a Server, u64) -> LocalBoxStream<'a, Item>;
    let modes: [Open; 3] = [
        |server, slow| once(first(server, slow)).try_flatten().boxed_local(),
        |server, slow| once(buffer(server, slow)).try_flatten().boxed_local(),
        |server, slow| once(resume(server, slow)).try_flatten().boxed_local(),
    ];
    let each_after_4s = (1..=3).flat_map(|item| [Wait(secs(4)), Step::Item(item)]);
    let script: Vec<_> = each_after_4s.collect();
    for (slow, expected) in [
        (0, [(2, 10), (2, 10), (1, 12)]),
        (5, [(2, 15), (2, 15), (1, 17)]),
        (7, [(2, 17), (2, 17), (2, 17)]),
    ] {
        for (open, expected) in modes.into_iter().zip(expected) {
            let server = Server::new([script.clone(), items(1..=3)]);
            let start = Instant::now();
            assert_eq!(all(open(&server, slow)).await, [Ok(1), Ok(2), Ok(3)]);
            let took = (server.attempts(), start.elapsed().as_secs());
            assert_eq!(took, expected, "{slow}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn buffer_and_resume_try_again_after_any_item() {
    let expected: Vec<Item> = (1..=9).map(Ok).collect();
    let server = Server::new([stalls_after(2), items(1..=9)]);
    assert_eq!(all(buffer(&server)).await, expected);
    assert_eq!(server.attempts(), 2);
    let server = Server::new([stalls_after(2), items(1..=9)]);
    assert_eq!(all(resume(&server)).await, expected);
    assert_eq!(server.attempts(), 2);
}

#[tokio::test(start_paused = true)]
async fn each_item_has_the_whole_time_and_the_consumer_takes_none_of_it() {
    let slow: Vec<_> = (1..=5)
        .flat_map(|item| [Wait(secs(4)), Step::Item(item)])
        .collect();
    let server = Server::new([slow]);
    let mut stream = std::pin::pin!(first(&server));
    let mut seen = 0;
    while let Some(item) = stream.next().await {
        seen += 1;
        assert_eq!(item, Ok(seen));
        sleep(secs(60)).await;
    }
    assert_eq!((seen, server.attempts()), (5, 1));
}

/// A dropped attempt counts as a timeout and is ambiguous; an error that the stream itself yields is not.
mod errors_in_time {
    use super::*;

    #[retry(
        stream = "first",
        max = 2,
        backoff = "none",
        timeout = "5s",
        timed_out(max = 0),
        idempotent = false
    )]
    fn first(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }

    #[retry(
        stream = "first",
        max = 2,
        backoff = "none",
        timeout = "5s",
        timed_out(max = 0),
        idempotent = false
    )]
    async fn opened(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
        server.connect().await
    }

    #[retry(
        stream = "buffer",
        max = 2,
        backoff = "none",
        timeout = "5s",
        timed_out(max = 0),
        idempotent = false
    )]
    fn buffer(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }

    #[retry(
        stream = "resume",
        max = 2,
        backoff = "none",
        timeout = "5s",
        timed_out(max = 0),
        idempotent = false,
        attempt = attempt
    )]
    fn resume(server: &Server) -> impl Stream<Item = Item> {
        crate::streams::rest(server.lazy(), attempt.yielded())
    }

    #[tokio::test(start_paused = true)]
    async fn are_retried_as_what_they_are() {
        let scripts = || [vec![BUSY], vec![BUSY], items(1..=2)];
        let server = Server::new(scripts());
        assert_eq!(all(first(&server)).await, [Ok(1), Ok(2)]);
        assert_eq!(server.attempts(), 3);
        let server = Server::new(scripts());
        assert_eq!(all(buffer(&server)).await, [Ok(1), Ok(2)]);
        assert_eq!(server.attempts(), 3);
        let server = Server::new(scripts());
        assert_eq!(all(resume(&server)).await, [Ok(1), Ok(2)]);
        assert_eq!(server.attempts(), 3);
        let server = Server::refusing(2, [items(1..=2)]);
        assert_eq!(all(opened(&server).await.unwrap()).await, [Ok(1), Ok(2)]);
        assert_eq!(server.attempts(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn are_not_mistaken_for_timeouts_which_are_not_retried() {
        let server = Server::new([stalls_after(0)]);
        assert_eq!(all(first(&server)).await, [Err(Failure::Slow)]);
        assert_eq!(server.attempts(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_between_items_may_have_its_own_limit() {
    #[retry(
        stream = "buffer",
        max = 1,
        backoff = "none",
        timeout = "30s",
        idle_timeout = "5s"
    )]
    fn both(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }

    #[retry(stream = "buffer", max = 1, backoff = "none", idle_timeout = "5s")]
    fn idle(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }

    let steps = |waits: [u64; 2]| {
        let [first, second] = waits.map(|wait| Wait(secs(wait)));
        vec![first, Step::Item(1), second, Step::Item(2)]
    };
    let good = vec![Ok(1), Ok(2)];
    for (waits, of_both, of_idle) in [
        ([20, 4], (1, 24), (1, 24)),
        ([20, 6], (2, 25), (2, 25)),
        ([28, 4], (2, 30), (1, 32)),
        ([31, 4], (2, 30), (1, 35)),
    ] {
        let server = Server::new([steps(waits), items(1..=2)]);
        let start = Instant::now();
        assert_eq!(all(both(&server)).await, good);
        assert_eq!(
            (server.attempts(), start.elapsed().as_secs()),
            of_both,
            "{waits:?}"
        );
        let server = Server::new([steps(waits), items(1..=2)]);
        let start = Instant::now();
        assert_eq!(all(idle(&server)).await, good);
        assert_eq!(
            (server.attempts(), start.elapsed().as_secs()),
            of_idle,
            "{waits:?}"
        );
    }
}
