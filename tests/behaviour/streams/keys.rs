//! The other keys mean the same on a stream as elsewhere.

use std::any::type_name;

use futures::stream::{self, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Fail, Failure, Item, Server, Step, all, all_of, items, secs};

#[tokio::test(start_paused = true)]
async fn a_section_has_its_own_count() {
    streams! {
        #[retry(stream = "resume", attempt = _attempt, max = 1, hint = "ignore", jitter = "none",
            throttled(max = 2, backoff = "fixed", base = "10s"))]
        fn stream;
    }
    let throttled = || Fail(throttled_for(secs(7)));
    let server = Server::new([
        vec![Step::Item(1), throttled()],
        vec![BUSY],
        vec![throttled()],
        vec![throttled()],
        vec![],
    ]);
    let start = Instant::now();
    let seen = all(stream(&server)).await;
    assert_eq!(seen, [Ok(1), Err(throttled_for(secs(7)))]);
    assert_eq!((server.attempts(), start.elapsed()), (4, secs(21)));
}

/// With any error: a request that yielded an item was not rejected.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_yielded_an_item_may_have_happened() {
    let throttled = || Fail(throttled_for(secs(7)));
    for (script, attempts) in [
        (vec![BUSY], 2),
        (vec![throttled()], 2),
        (vec![Step::Item(1), BUSY], 1),
        (vec![Step::Item(1), throttled()], 1),
    ] {
        for (mode, open) in modes!(|server| idempotent = false) {
            let server = Server::new([script.clone(), items(2..=2)]);
            all(open(&server)).await;
            assert_eq!(server.attempts(), attempts, "{mode}: {script:?}");
        }
    }
}

#[tokio::test]
async fn give_up_shapes_the_error() {
    fn shape(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(gave_up.reason(), Reason::Exhausted);
        assert_eq!(gave_up.attempts(), 3);
        STOP
    }
    for (mode, open) in modes!(|server| max = 2, backoff = "none", give_up = shape) {
        let server = Server::new([vec![BUSY]]);
        assert_eq!(all(open(&server)).await, [Err(STOP)], "{mode}");
    }
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
            timer = sleep,
            observe = |event| self.seen.lock().unwrap().push(event.to_string()),
            on = |error| if *error == TRANSIENT { Verdict::TRANSIENT } else { Verdict::STOP },
        )]
        fn stream<'a>(&'a self, server: &'a Server) -> impl Stream<Item = Item> + Send + 'a {
            server.lazy()
        }
    }

    let client = Client {
        policy: Policy::fixed(secs(2)).max(1).jitter(Jitter::None),
        seen: Mutex::default(),
    };
    let recording = testing::record();
    let server = Server::new([vec![BUSY], vec![Step::Item(1), BUSY]]);
    let seen = all(client.stream(&server)).await;
    assert_eq!(seen, [Ok(1), Err(TRANSIENT)]);
    let lines = [
        "retrying client.stream attempt=1 max=1 delay=2s error=transient reason=transient",
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
async fn with_instrument() {
    streams! {
        #[tracing::instrument(skip_all)]
        #[retry(stream, max = 2, backoff = "none")]
        async fn below;
        #[retry(stream, max = 2, backoff = "none")]
        #[tracing::instrument(skip_all)]
        async fn above;
        #[tracing::instrument(skip_all)]
        #[retry(stream, max = 2, backoff = "none")]
        fn sync_below;
        #[retry(stream, max = 2, backoff = "none")]
        #[tracing::instrument(skip_all)]
        fn sync_above;
    }
    let servers = [(); 4].map(|()| Server::refusing(1, [vec![BUSY], items(1..=1)]));
    let seen = [
        all_of(below(&servers[0]).await).await,
        all_of(above(&servers[1]).await).await,
        all(sync_below(&servers[2])).await,
        all(sync_above(&servers[3])).await,
    ];
    assert_eq!(seen, [(); 4].map(|()| vec![Ok(1)]));
    assert!(servers.iter().all(|server| server.attempts() == 3));
}

#[tokio::test]
async fn an_error_is_shown_by_what_its_type_has() {
    #[derive(Debug)]
    struct Broken;

    #[retry(stream, max = 1, backoff = "none", name = "stream", on = |_| true)]
    fn stream() -> impl Stream<Item = Result<u32, Broken>> {
        stream::iter([Err(Broken)])
    }
    let recording = testing::record();
    assert_eq!(stream().count().await, 1);
    let error = type_name::<Broken>().replace("::{{closure}}", "");
    assert_eq!(
        recording.lines()[0],
        format!("retrying stream attempt=1 max=1 delay=0ns error={error} reason=transient")
    );
}
