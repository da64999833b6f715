//! The other keys mean the same on a stream as elsewhere.

use std::any::type_name;

use futures::stream::{self, BoxStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Fail, Failure, Item, Server, Step, Wait, all, all_of, items, secs};

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

#[tokio::test]
async fn the_body_sees_the_attempt_and_nothing_of_those_before() {
    #[retry(stream, max = 2, backoff = "none", attempt = attempt)]
    fn stream(server: &Server) -> impl Stream<Item = Item> + Send {
        assert_eq!(attempt.number(), server.attempts() + 1);
        assert_eq!(attempt.last_error().is_some(), attempt.number() > 1);
        // The last attempt is gone.
        assert_eq!(server.open(), 0);
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

/// Protections record an attempt once, at its first item, whatever the stream does later.
struct Shared {
    breaker: Breaker,
    limiter: ConcurrencyLimiter,
}

/// A function of a mode, with both protections.
macro_rules! protected {
    ($name:ident, $($key:tt)*) => {
        #[retry($($key)*, max = 1, backoff = "none", breaker = &shared.breaker, limiter = &shared.limiter)]
        fn $name(server: &Server, shared: &Shared) -> impl Stream<Item = Item> + Send {
            server.lazy()
        }
    };
}
protected!(first, stream = "first");
protected!(resumed, stream = "resume", attempt = _attempt);

type Open = for<'a> fn(&'a Server, &'a Shared) -> BoxStream<'a, Item>;
const MODES: [(&str, Open); 2] = [
    ("first", |server, shared| first(server, shared).boxed()),
    ("resume", |server, shared| resumed(server, shared).boxed()),
];

#[tokio::test(start_paused = true)]
async fn an_attempt_counts_by_its_first_item() {
    let sensitive = || Breaker::new().consecutive_failures(1);
    let slow = || vec![Step::Item(1), Wait(secs(60)), Step::Item(2)];
    for (mode, open) in MODES {
        for (what, breaker, script, taken) in rows! {
            "breaks", sensitive(), vec![Step::Item(1), BUSY], 2;
            "is left", sensitive().hung_after(secs(2)), slow(), 2;
            "is slow", sensitive().slow(secs(2), 0.5).count_window(1), slow(), 3;
        } {
            let limiter = ConcurrencyLimiter::aimd().start(4);
            let shared = Shared { breaker, limiter };
            let server = Server::new([script, items(9..=9)]);
            let seen: Vec<_> = open(&server, &shared).take(taken).collect().await;
            assert_eq!(seen[0], Ok(1), "{mode} {what}");
            let state = (shared.breaker.state(), shared.limiter.limit());
            assert_eq!(state, (BreakerState::Closed, 4), "{mode} {what}");
        }
    }
}

/// As the trial call of a breaker, or in a limiter's only slot.
#[tokio::test(start_paused = true)]
async fn a_running_stream_does_not_block_others() {
    for (mode, open) in MODES {
        let shared = Shared {
            breaker: Breaker::new().consecutive_failures(1),
            limiter: ConcurrencyLimiter::fixed(1),
        };
        let down = Server::new([vec![BUSY]]);
        assert_eq!(all(open(&down, &shared)).await, [Err(TRANSIENT)]);
        assert_eq!(shared.breaker.state(), BreakerState::Open, "{mode}");
        sleep(secs(6)).await;

        let server = Server::new([items(1..=9)]);
        let mut streams = [open(&server, &shared), open(&server, &shared)];
        for stream in &mut streams {
            assert_eq!(stream.next().await, Some(Ok(1)), "{mode}");
            assert_eq!(shared.breaker.state(), BreakerState::Closed, "{mode}");
            assert_eq!(shared.limiter.running(), 0, "{mode}");
        }
    }
}
