//! The spans of calls and attempts.

use std::sync::Once;

use http::{Request, Response};
use http_body_util::Full;
use retry_clients::ClientRetries;
use retry_clients::tower::{GaveUp, RetryLayer};
use support::prelude::*;
use support::sink::Sink;
use tower::{Layer, ServiceExt, service_fn};
use tracing::{Level, subscriber};

use super::plain::Fault;
use super::scripted::{BoxError, post};

/// Returns the log of a call: for each record, its spans and its first word.
async fn log_of<T>(call: impl Future<Output = T>) -> Vec<String> {
    // Otherwise, a record that another test's subscriber ignores on another thread may be cached as disabled.
    static HEARD: Once = Once::new();
    HEARD.call_once(|| {
        let all = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(io::sink);
        subscriber::set_global_default(all.finish()).unwrap();
    });
    let sink = Sink::default();
    let subscriber =
        tracing_subscriber::fmt().with_writer(sink.writer()).without_time().with_ansi(false);
    let guard = subscriber::set_default(subscriber.finish());
    call.await;
    drop(guard);
    let record = |line: &str| {
        let line = line.trim_start().split_once(' ').expect("a level").1;
        let (start, message) = line.rsplit_once(": ").expect("a target");
        let spans = start.rsplit_once("}: ").map(|(spans, _)| format!("{spans}}} "));
        let word = message.split(' ').next().expect("a word");
        format!("{}{word}", spans.unwrap_or_default())
    };
    sink.text().lines().map(record).collect()
}

#[tokio::test(start_paused = true)]
async fn records_of_a_service_show_their_call_and_attempt() {
    let _skipped = testing::skip_sleeps();
    let service = service_fn(|_: Request<Full<bytes::Bytes>>| {
        tracing::info!("asked");
        ready(Ok::<_, BoxError>(
            Response::builder().status(503).body(Full::<bytes::Bytes>::default()).unwrap(),
        ))
    });
    let retries = || ClientRetries::new(Policy::new().max(1));
    let spanned = RetryLayer::new(retries().span(true)).layer(service);
    let expected = [
        "call{call=POST api.example}:attempt{attempt=1} asked",
        "call{call=POST api.example} retrying",
        "call{call=POST api.example}:attempt{attempt=2} asked",
        "call{call=POST api.example} gave",
    ];
    assert_eq!(log_of(spanned.oneshot(post("hello"))).await, expected);

    let plain = RetryLayer::new(retries()).layer(service);
    let expected = ["asked", "retrying", "asked", "gave"];
    assert_eq!(log_of(plain.oneshot(post("hello"))).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_runs_in_the_span_of_the_call() {
    let on = |outcome: Result<&(), &Fault>| outcome.err().map(|_| Verdict::TRANSIENT);
    let layer = RetryLayer::cloning(Policy::none().max(0), on).name("query").span(true);
    let layer = layer.fallback(|_: Option<()>, gave_up: GaveUp<(), Fault>| {
        Box::pin(async {
            tracing::info!("replaced");
            gave_up.outcome
        })
    });
    let service = service_fn(|(): ()| {
        tracing::info!("asked");
        ready(Err::<(), _>(Fault("busy")))
    });
    let expected = [
        "call{call=query}:attempt{attempt=1} asked",
        "call{call=query} falling",
        "call{call=query} replaced",
        "call{call=query} gave",
    ];
    assert_eq!(log_of(layer.layer(service).oneshot(())).await, expected);
}
