//! The other keys mean on a stream what they mean elsewhere.

use std::sync::Mutex;

use futures::stream::Stream;
use retry_runtime::{GaveUp, Policy, Reason, Verdict, retry, testing};
use tokio::time::Instant;

use super::{BUSY, Fail, Failure, Item, Server, Step, all, all_of, items, secs};

const THROTTLED: Step = Fail(Failure::Throttled(secs(7)));

#[tokio::test(start_paused = true)]
async fn a_section_has_its_own_count() {
    #[retry(
        stream = "resume",
        attempt = _attempt,
        max = 1,
        hint = "ignore",
        jitter = "none",
        throttled(max = 2, backoff = "fixed", base = "10s")
    )]
    fn stream(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }
    let server = Server::new([
        vec![Step::Item(1), THROTTLED],
        vec![BUSY],
        vec![THROTTLED],
        vec![THROTTLED],
        vec![],
    ]);
    let start = Instant::now();
    let Fail(throttled) = THROTTLED else { return };
    assert_eq!(all(stream(&server)).await, [Ok(1), Err(throttled)]);
    assert_eq!((server.attempts(), start.elapsed()), (4, secs(21)));
}

/// With any error: a request that yielded an item was not rejected.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_yielded_an_item_may_have_happened() {
    #[retry(stream = "buffer", idempotent = false)]
    fn buffer(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }
    #[retry(stream = "resume", idempotent = false, attempt = _attempt)]
    async fn resume(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
        server.connect().await
    }

    for (script, attempts) in [
        (vec![BUSY], 2),
        (vec![THROTTLED], 2),
        (vec![Step::Item(1), BUSY], 1),
        (vec![Step::Item(1), THROTTLED], 1),
    ] {
        let server = || Server::new([script.clone(), items(2..=2)]);
        let (buffered, resumed) = (server(), server());
        all(buffer(&buffered)).await;
        all_of(resume(&resumed).await).await;
        let made = (buffered.attempts(), resumed.attempts());
        assert_eq!(made, (attempts, attempts), "{script:?}");
    }
}

#[tokio::test]
async fn give_up_shapes_the_error() {
    fn shape(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(gave_up.reason(), Reason::Exhausted);
        assert_eq!(gave_up.attempts(), 3);
        Failure::Fatal
    }
    #[retry(stream, max = 2, backoff = "none", give_up = shape)]
    fn stream(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }
    #[retry(stream = "buffer", max = 2, backoff = "none", give_up = shape)]
    async fn awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
        server.connect().await
    }
    let server = Server::new([vec![BUSY]]);
    assert_eq!(all(stream(&server)).await, [Err(Failure::Fatal)]);
    assert_eq!(awaited(&server).await.err(), Some(Failure::Fatal));
}

#[tokio::test(start_paused = true)]
async fn policy_timer_and_observers_are_the_calls_own() {
    struct Client {
        policy: Policy,
        seen: Mutex<Vec<String>>,
    }

    impl Client {
        #[retry(
            stream,
            name = "client.stream",
            policy = self.policy,
            timer = tokio::time::sleep,
            observe = |event| self.seen.lock().unwrap().push(event.to_string()),
            on = |error| match error { Failure::Busy => Verdict::TRANSIENT, _ => Verdict::STOP },
        )]
        fn stream<'a>(&'a self, server: &'a Server) -> impl Stream<Item = Item> + Send + 'a {
            server.lazy()
        }
    }

    let client = Client {
        policy: Policy::fixed(secs(2))
            .max(1)
            .jitter(retry_runtime::Jitter::None),
        seen: Mutex::default(),
    };
    let recording = testing::record();
    let server = Server::new([vec![BUSY], vec![Step::Item(1), BUSY]]);
    assert_eq!(
        all(client.stream(&server)).await,
        [Ok(1), Err(Failure::Busy)]
    );
    let lines = [
        "retrying client.stream attempt=1 max=1 delay=2s error=Busy reason=transient",
        "succeeded client.stream attempt=2 max=1",
    ];
    assert_eq!(recording.lines(), lines);
    let seen = client.seen.into_inner().unwrap();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!((&*seen[1], &*seen[3]), (lines[0], lines[1]));
}

#[tokio::test]
async fn the_attempt_is_seen() {
    #[retry(stream, max = 2, backoff = "none", attempt = attempt)]
    fn stream(server: &Server) -> impl Stream<Item = Item> + Send {
        assert_eq!(attempt.number(), server.attempts() + 1);
        assert_eq!(attempt.last_error().is_some(), attempt.number() > 1);
        server.lazy()
    }
    let server = Server::new([vec![BUSY], vec![BUSY], items(1..=1)]);
    assert_eq!(all(stream(&server)).await, [Ok(1)]);
}

#[tokio::test]
async fn beside_instrument() {
    #[tracing::instrument(skip_all)]
    #[retry(stream, max = 2, backoff = "none")]
    async fn below(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
        server.connect().await
    }
    #[retry(stream, max = 2, backoff = "none")]
    #[tracing::instrument(skip_all)]
    async fn above(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
        server.connect().await
    }
    #[tracing::instrument(skip_all)]
    #[retry(stream, max = 2, backoff = "none")]
    fn sync_below(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }
    #[retry(stream, max = 2, backoff = "none")]
    #[tracing::instrument(skip_all)]
    fn sync_above(server: &Server) -> impl Stream<Item = Item> {
        server.lazy()
    }
    let server = || Server::refusing(1, [vec![BUSY], items(1..=1)]);
    let servers = [server(), server(), server(), server()];
    assert_eq!(all(below(&servers[0]).await.unwrap()).await, [Ok(1)]);
    assert_eq!(all(above(&servers[1]).await.unwrap()).await, [Ok(1)]);
    assert_eq!(all(sync_below(&servers[2])).await, [Ok(1)]);
    assert_eq!(all(sync_above(&servers[3])).await, [Ok(1)]);
    assert!(servers.iter().all(|server| server.attempts() == 3));
}

#[tokio::test]
async fn an_error_is_shown_by_what_its_type_has() {
    #[derive(Debug)]
    struct Broken;

    #[retry(stream, max = 1, backoff = "none", name = "stream", on = |_| true)]
    fn stream() -> impl Stream<Item = Result<u32, Broken>> {
        futures::stream::iter([Err(Broken)])
    }
    let recording = testing::record();
    assert_eq!(futures::StreamExt::count(stream()).await, 1);
    let error = std::any::type_name::<Broken>();
    assert_eq!(
        recording.lines()[0],
        format!("retrying stream attempt=1 max=1 delay=0ns error={error} reason=transient")
    );
}
