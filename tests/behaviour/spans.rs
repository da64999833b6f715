//! The key `span`: what a body logs carries its call and its attempt, in every shape.

use std::cell::Cell;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, Stream, StreamExt};
use retry_runtime::testing::{Script, fail_times};
use retry_runtime::{GaveUp, Policy, TimedOut, retry, retrying};
use tokio::time::sleep;

use crate::log::log_of;

const SECOND: Duration = Duration::from_secs(1);

/// What is logged after which a call of one retry has failed once and then succeeded.
const TWO_ATTEMPTS: [&str; 4] = [
    "call{call=fetch}:attempt{attempt=1}: asked",
    "call{call=fetch}: retrying",
    "call{call=fetch}:attempt{attempt=2}: asked",
    "call{call=fetch}: succeeded",
];

#[derive(Clone, Debug, PartialEq)]
struct Busy;

impl From<TimedOut> for Busy {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

/// The spans of each record, and what it begins with.
async fn spans_of<T>(call: impl Future<Output = T>) -> Vec<String> {
    let log = log_of(call).await;
    let line = |line: &str| {
        let line = line.trim_start().split_once(' ').expect("a level").1;
        let (spans, record) = match line.rsplit_once("}: ") {
            Some((spans, record)) => (format!("{spans}}}: "), record),
            None => (String::new(), line),
        };
        let message = record.split_once(": ").expect("a target").1;
        let message = message.split([' ', ',']).next().unwrap_or_default();
        format!("{spans}{message}")
    };
    log.lines().map(line).collect()
}

fn once() -> Script<(), Busy> {
    fail_times(1, Busy)
}

fn ask(server: &Script<(), Busy>) -> Result<(), Busy> {
    tracing::info!("asked");
    server.next()
}

#[tokio::test(start_paused = true)]
async fn async_functions() {
    #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
    async fn fetch(server: Script<(), Busy>) -> Result<(), Busy> {
        sleep(SECOND).await;
        ask(&server)
    }

    assert_eq!(spans_of(fetch(once())).await, TWO_ATTEMPTS);
}

#[tokio::test]
async fn blocking_functions() {
    #[retry(max = 1, name = "fetch", backoff = "none", span = true, on = |_| true)]
    fn fetch(server: &Script<(), Busy>) -> Result<(), Busy> {
        ask(server)
    }

    assert_eq!(spans_of(async { fetch(&once()) }).await, TWO_ATTEMPTS);
}

#[tokio::test(start_paused = true)]
async fn every_other_key_beside_it() {
    #[retry(max = 1, name = "fetch", span = true, timeout = "1s", deadline = "1m", attempt = attempt, on = |_| true,
        observe = |_| seen.set(seen.get() + 1), give_up = GaveUp::into_error, repeats = 5, budget)]
    async fn fetch(server: Script<(), Busy>, seen: &Cell<u32>) -> Result<(), Busy> {
        tracing::info!("asked");
        if attempt.number() == 1 {
            sleep(2 * SECOND).await;
        }
        server.next()
    }

    let seen = Cell::new(0);
    let spans = spans_of(fetch(fail_times(0, Busy), &seen)).await;
    assert_eq!(spans, TWO_ATTEMPTS);
    assert_eq!(seen.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn functions_that_return_a_future() {
    #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
    fn fetch(server: &Script<(), Busy>) -> impl Future<Output = Result<(), Busy>> {
        async move { ask(server) }
    }

    #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
    fn boxed(server: &Script<(), Busy>) -> BoxFuture<'_, Result<(), Busy>> {
        Box::pin(async move { ask(server) })
    }

    assert_eq!(spans_of(fetch(&once())).await, TWO_ATTEMPTS);
    assert_eq!(spans_of(boxed(&once())).await, TWO_ATTEMPTS);
}

#[tokio::test(start_paused = true)]
async fn methods_under_async_trait() {
    #[async_trait::async_trait]
    trait Client {
        async fn fetch(&mut self) -> Result<(), Busy>;
    }

    struct Real(Script<(), Busy>, u32);

    #[async_trait::async_trait]
    impl Client for Real {
        #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
        async fn fetch(&mut self) -> Result<(), Busy> {
            self.1 += 1;
            ask(&self.0)
        }
    }

    let mut client = Real(once(), 0);
    assert_eq!(spans_of(client.fetch()).await, TWO_ATTEMPTS);
    assert_eq!(client.1, 2);
}

#[tokio::test(start_paused = true)]
async fn expressions() {
    let (server, mut asked) = (once(), 0);
    let spans = spans_of(async {
        retrying!(
            max = 1,
            name = "fetch",
            span = true,
            on = |_: &Busy| true,
            async {
                asked += 1;
                ask(&server)
            }
        )
        .await
    });
    assert_eq!(spans.await, TWO_ATTEMPTS);
    assert_eq!(asked, 2);
}

#[tokio::test(start_paused = true)]
async fn streams() {
    #[retry(max = 1, name = "fetch", span = true, stream = "buffer", on = |_| true)]
    fn fetch(server: &Script<(), Busy>) -> impl Stream<Item = Result<(), Busy>> {
        stream::iter([Ok(()), ask(server)])
    }

    let server = once();
    let spans = spans_of(fetch(&server).collect::<Vec<_>>());
    assert_eq!(spans.await, TWO_ATTEMPTS);
}

#[tokio::test(start_paused = true)]
async fn attempts_beside_slow_ones() {
    #[retry(max = 1, name = "fetch", span = true, hedge = "1s", on = |_| true)]
    async fn fetch(asked: &Cell<u32>) -> Result<(), Busy> {
        asked.set(asked.get() + 1);
        let wait = if asked.get() == 1 { 5 } else { 1 };
        tracing::info!("asked");
        sleep(wait * SECOND).await;
        tracing::info!("answered");
        Ok(())
    }

    assert_eq!(
        spans_of(fetch(&Cell::new(0))).await,
        [
            "call{call=fetch}:attempt{attempt=1}: asked",
            "call{call=fetch}: hedging",
            "call{call=fetch}:attempt{attempt=2}: asked",
            "call{call=fetch}:attempt{attempt=2}: answered",
            "call{call=fetch}: succeeded",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn it_may_be_decided_when_it_runs() {
    #[retry(max = 1, name = "fetch", span = wanted, on = |_| true)]
    async fn fetch(server: Script<(), Busy>, wanted: bool) -> Result<(), Busy> {
        ask(&server)
    }

    #[retry(max = 1, name = "fetch", span = false, on = |_| true)]
    async fn without(server: Script<(), Busy>) -> Result<(), Busy> {
        ask(&server)
    }

    let bare = ["asked", "retrying", "asked", "succeeded"];
    assert_eq!(spans_of(fetch(once(), true)).await, TWO_ATTEMPTS);
    assert_eq!(spans_of(fetch(once(), false)).await, bare);
    assert_eq!(spans_of(without(once())).await, bare);
}

/// Where two calls wait at the same time, each logs in its own spans.
#[tokio::test(start_paused = true)]
async fn spans_of_calls_at_once_stay_apart() {
    #[retry(max = 1, name = name, span = true, on = |_| true)]
    async fn fetch(name: &str) -> Result<(), Busy> {
        sleep(SECOND).await;
        tracing::info!("asked");
        Ok(())
    }

    let both = async { tokio::join!(fetch("one"), fetch("other")) };
    let mut spans = spans_of(both).await;
    spans.sort();
    assert_eq!(
        spans,
        [
            "call{call=one}:attempt{attempt=1}: asked",
            "call{call=other}:attempt{attempt=1}: asked",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn chains() {
    let policy = Policy::new().max(1).name("fetch").on(|_: &Busy| true);
    let server = once();
    let call = policy.span().call(async || {
        sleep(SECOND).await;
        ask(&server)
    });
    assert_eq!(spans_of(call).await, TWO_ATTEMPTS);
    let blocking = async {
        let server = once();
        let policy = Policy::none().max(1).name("fetch").on(|_: &Busy| true);
        policy.span().call_blocking(|| ask(&server))
    };
    assert_eq!(spans_of(blocking).await, TWO_ATTEMPTS);
}
