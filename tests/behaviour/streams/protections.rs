//! Protections record an attempt once, at its first item, whatever the stream does later.

use futures::stream::{BoxStream, Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Item, Server, Step, Wait, all, items, secs};

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
