//! The key `span`: the body's log records contain the call and the attempt, in every shape.

use std::sync::Barrier;

use futures::future::BoxFuture;
use futures::stream::{self, Stream, StreamExt};
use retry_runtime::testing::{Script, fail_times};
use support::prelude::*;
use tracing::dispatcher;

use crate::log::{log_of, log_with_ends_of};

const SECOND: Duration = secs(1);

/// The log of a call with one retry that failed once and then succeeded.
const TWO_ATTEMPTS: [&str; 4] = [
    "call{call=fetch}:attempt{attempt=1}: asked",
    "call{call=fetch}: retrying",
    "call{call=fetch}:attempt{attempt=2}: asked",
    "call{call=fetch}: succeeded",
];

/// The same, with the end of each span: an attempt's ends before the pause.
const TWO_ATTEMPTS_WITH_ENDS: [&str; 7] = [
    "call{call=fetch}:attempt{attempt=1}: asked",
    "call{call=fetch}:attempt{attempt=1}: close",
    "call{call=fetch}: retrying",
    "call{call=fetch}:attempt{attempt=2}: asked",
    "call{call=fetch}:attempt{attempt=2}: close",
    "call{call=fetch}: succeeded",
    "call{call=fetch}: close",
];

/// That of a call without spans.
const BARE: [&str; 4] = ["asked", "retrying", "asked", "succeeded"];

async fn spans_of<T>(call: impl Future<Output = T>) -> Vec<String> {
    spans_in(&log_of(call).await)
}

/// Like `spans_of`, with the end of each span, which lasts as long as what it is named after.
async fn ends_of<T>(call: impl Future<Output = T>) -> Vec<String> {
    spans_in(&log_with_ends_of(call).await)
}

/// Returns the spans of each record, and its start.
fn spans_in(log: &str) -> Vec<String> {
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

fn once() -> Script<(), Failure> {
    fail_times(1, TRANSIENT)
}

fn ask(server: &Script<(), Failure>) -> Result<(), Failure> {
    tracing::info!("asked");
    server.next()
}

#[tokio::test(start_paused = true)]
async fn spans_work_with_every_other_key() {
    #[retry(max = 1, name = "fetch", span = true, timeout = "1s", deadline = "1m", attempt = attempt, on = |_| true,
        observe = |_| seen.set(seen.get() + 1), give_up = GaveUp::into_error, repeats = 2, budget)]
    async fn fetch(server: Script<(), Failure>, seen: &Cell<u32>) -> Result<(), Failure> {
        tracing::info!("asked");
        if attempt.number() == 1 {
            sleep(2 * SECOND).await;
        }
        server.next()
    }

    let seen = Cell::new(0);
    let spans = spans_of(fetch(fail_times(0, TRANSIENT), &seen)).await;
    assert_eq!(spans, TWO_ATTEMPTS);
    assert_eq!(seen.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn hedged_attempts_have_their_own_spans() {
    #[retry(max = 1, name = "fetch", span = true, hedge = "1s", on = |_| true)]
    async fn fetch(asked: &Cell<u32>) -> Result<(), Failure> {
        asked.set(asked.get() + 1);
        let wait = if asked.get() == 1 { 5 } else { 1 };
        tracing::info!("asked");
        sleep(wait * SECOND).await;
        tracing::info!("answered");
        Ok(())
    }

    let expected = [
        "call{call=fetch}:attempt{attempt=1}: asked",
        "call{call=fetch}: hedging",
        "call{call=fetch}:attempt{attempt=2}: asked",
        "call{call=fetch}:attempt{attempt=2}: answered",
        "call{call=fetch}: succeeded",
    ];
    assert_eq!(spans_of(fetch(&Cell::new(0))).await, expected);
}

/// If two calls wait at the same time, each logs in its own spans.
#[tokio::test(start_paused = true)]
async fn spans_of_concurrent_calls_are_separate() {
    #[retry(max = 1, name = name, span = true, on = |_| true)]
    async fn fetch(name: &str) -> Result<(), Failure> {
        sleep(SECOND).await;
        tracing::info!("asked");
        Ok(())
    }

    let both = async { tokio::join!(fetch("one"), fetch("other")) };
    let mut spans = spans_of(both).await;
    spans.sort();
    let expected = [
        "call{call=one}:attempt{attempt=1}: asked",
        "call{call=other}:attempt{attempt=1}: asked",
    ];
    assert_eq!(spans, expected);
}

/// Checks what each of these forms logs, whose server fails once.
macro_rules! assert_spans {
    ($of:ident, $expected:expr, $($form:literal: |$server:ident| $call:expr;)*) => {$({
        let $server = once();
        assert_eq!($of(async { $call }).await, $expected, $form);
    })*};
}

#[tokio::test(start_paused = true)]
async fn functions_and_expressions() {
    type Asked = Result<(), Failure>;

    scripted! {
        #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
        async fn waiting(server: &Script<(), Failure>) -> Asked = {
            sleep(SECOND).await;
            ask(server)
        };
        #[retry(max = 1, name = "fetch", backoff = "none", span = true, on = |_| true)]
        fn blocking(server: &Script<(), Failure>) -> Asked = ask(server);
        #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
        fn future(server: &Script<(), Failure>) -> impl Future<Output = Asked> = async move { ask(server) };
        #[retry(max = 1, name = "fetch", span = true, on = |_| true)]
        fn boxed(server: &Script<(), Failure>) -> BoxFuture<'_, Asked> = Box::pin(async move { ask(server) });
        #[retry(max = 1, name = "fetch", span = true, stream = "buffer", on = |_| true)]
        fn streamed(server: &Script<(), Failure>) -> impl Stream<Item = Asked> = stream::iter([Ok(()), ask(server)]);
        #[retry(max = 1, name = "fetch", span = wanted, on = |_| true)]
        async fn if_wanted(server: &Script<(), Failure>, wanted: bool) -> Asked = ask(server);
        #[retry(max = 1, name = "fetch", span = false, on = |_| true)]
        async fn without(server: &Script<(), Failure>) -> Asked = ask(server);
    }

    assert_spans! { spans_of, TWO_ATTEMPTS,
        "async": |server| waiting(&server).await;
        "blocking": |server| blocking(&server);
        "future": |server| future(&server).await;
        "boxed": |server| boxed(&server).await;
        "stream": |server| streamed(&server).collect::<Vec<_>>().await;
        "expression": |server| {
            let mut asked = 0;
            let called = retrying!(max = 1, name = "fetch", span = true, on = |_: &Failure| true, async {
                asked += 1;
                ask(&server)
            });
            assert_eq!((called.await, asked), (Ok(()), 2));
        };
        "wanted at run time": |server| if_wanted(&server, true).await;
    }
    assert_spans! { spans_of, BARE,
        "not wanted at run time": |server| if_wanted(&server, false).await;
        "not wanted": |server| without(&server).await;
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what an operation returns")]
fn each<T, E>(answer: Result<T, E>) -> Result<Vec<Result<T, E>>, E> {
    Ok(vec![answer])
}

#[tokio::test(start_paused = true)]
async fn chains() {
    let policy = Policy::new().max(1);
    let on = |_: &Failure| Verdict::TRANSIENT;
    let asked = async |server: &Script<(), Failure>| {
        sleep(SECOND).await;
        ask(server)
    };
    let (budget, breaker) = (Budget::standard(), Breaker::new());
    let limiter = ConcurrencyLimiter::aimd();
    assert_spans! { ends_of, TWO_ATTEMPTS_WITH_ENDS,
        "last": |server| {
            policy.on(on).name("fetch").span(true).call(async || asked(&server).await).await
        };
        "among all others": |server| {
            let chain = policy.name("fetch").on(on).budget(&budget).breaker(&breaker).span(true);
            let chain = chain.limiter(&limiter).observe(|_: &Event<'_>| ()).until(|()| true);
            let chain = chain.timeout(5 * SECOND).cancel(pending::<()>()).idempotent(true);
            let chain = chain.fallback(async |gave_up: GaveUp<Failure>| Err(gave_up.into_error()));
            chain.call(async || asked(&server).await).await
        };
        "first, with the attempt": |server| {
            let chain = policy.span(true).name("fetch").on(on);
            chain.call_attempt(async |_| asked(&server).await).await
        };
        "blocking": |server| {
            let policy = policy.base(Duration::ZERO);
            policy.on(on).span(true).name("fetch").call_blocking(|| ask(&server))
        };
        "blocking, with the attempt": |server| {
            let policy = policy.base(Duration::ZERO);
            policy.on(on).span(true).name("fetch").call_attempt_blocking(|_| ask(&server))
        };
        "a batch": |server| {
            let chain = policy.on(on).span(true).name("fetch");
            retry_each(chain, [()], async |_| each(asked(&server).await)).await
        };
        "a blocking batch": |server| {
            let chain = policy.base(Duration::ZERO).on(on).span(true).name("fetch");
            retry_each_blocking(chain, [()], |_| each(ask(&server)))
        };
    }
    assert_spans! { spans_of, BARE,
        "not wanted": |server| {
            policy.on(on).name("fetch").span(false).call(async || asked(&server).await).await
        };
        "a batch, not wanted": |server| {
            let chain = policy.on(on).span(false).name("fetch");
            retry_each(chain, [()], async |_| each(asked(&server).await)).await
        };
    }
}

/// An attempt is dropped in its span at its timeout, and the fallback runs in the call's span.
#[tokio::test(start_paused = true)]
async fn code_outside_attempts_is_in_the_calls_span() {
    struct Dropped;

    impl Drop for Dropped {
        fn drop(&mut self) {
            tracing::info!("dropped");
        }
    }

    let policy = Policy::none().max(0).timeout(SECOND);
    let chain = policy
        .name("fetch")
        .span(true)
        .policy_timeout()
        .on(|_| true);
    let chain = chain.fallback(async |_: GaveUp<Failure>| {
        tracing::info!("resorted");
        Ok(())
    });
    let call = chain.call(async || {
        let _dropped = Dropped;
        pending::<Result<(), Failure>>().await
    });
    let expected = [
        "call{call=fetch}:attempt{attempt=1}: dropped",
        "call{call=fetch}: falling",
        "call{call=fetch}: resorted",
        "call{call=fetch}: fell",
    ];
    assert_eq!(spans_of(call).await, expected);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_batch_at_once() {
    let batches = Policy::new().max(1).name("fetch").on(|_| true);
    let sent = retry_each(
        batches.span(true).batches(1).concurrency(2),
        [1, 2],
        async |items| {
            sleep(items[0] * SECOND).await;
            tracing::info!("asked");
            Ok(items.into_iter().map(Ok::<u32, Failure>).collect())
        },
    );
    let attempt = "call{call=fetch}:attempt{attempt=1}: asked";
    assert_eq!(Box::pin(spans_of(sent)).await, [attempt; 2]);
}

/// The subscriber is that of the test's thread. Another thread opens its attempt's span for its own.
#[tokio::test]
async fn threads_of_a_batch_are_in_the_span_of_the_call() {
    let both = Barrier::new(2);
    let sent = async {
        let listener = dispatcher::get_default(Clone::clone);
        let batches = Policy::none().name("fetch").on(|_| true).span(true);
        retry_each_blocking(batches.batches(1).concurrency(2), [1, 2], |items| {
            both.wait();
            dispatcher::with_default(&listener, || tracing::info!("asked"));
            Ok(items.into_iter().map(Ok::<u32, Failure>).collect())
        })
    };
    let mut spans = spans_of(sent).await;
    spans.sort();
    let expected = [
        "call{call=fetch}: asked",
        "call{call=fetch}:attempt{attempt=1}: asked",
    ];
    assert_eq!(spans, expected);
}

#[tokio::test(start_paused = true)]
async fn plans() {
    let server = once();
    let mut plan = Plan::new();
    plan.add("search", [], async |[]| ask(&server));
    plan.add("label", ["search"], async |[_]| {
        tracing::info!("asked");
        Ok(())
    });
    let chain = Policy::new().max(1).on(|_| true);
    let run = plan.run_until(chain.span(true).name("site"), async |results| {
        tracing::info!("validated");
        match results.output("label") {
            Some(()) => Validity::Valid,
            None => Validity::Invalid(String::from("no label")),
        }
    });
    let expected = [
        "call{call=site}:call{call=site.search}:attempt{attempt=1}: asked",
        "call{call=site}:call{call=site.search}:attempt{attempt=1}: close",
        "call{call=site}: failed",
        "call{call=site}: validated",
        "call{call=site}: retrying",
        "call{call=site}:call{call=site.search}:attempt{attempt=2}: asked",
        "call{call=site}:call{call=site.search}:attempt{attempt=2}: close",
        "call{call=site}:call{call=site.search}: close",
        "call{call=site}: recovered",
        "call{call=site}:call{call=site.label}:attempt{attempt=1}: asked",
        "call{call=site}:call{call=site.label}:attempt{attempt=1}: close",
        "call{call=site}:call{call=site.label}: close",
        "call{call=site}: validated",
        "call{call=site}: succeeded",
        "call{call=site}: summary:",
        "call{call=site}: close",
    ];
    assert_eq!(Box::pin(ends_of(run)).await, expected);
}

/// Its span is closed while the plan continues.
#[tokio::test(start_paused = true)]
async fn a_dead_end_of_a_plan() {
    let mut plan = Plan::new();
    plan.add("search", [], async |[]| Err::<(), _>(TRANSIENT));
    let chain = Policy::none().max(1).on(|_: &Failure| false).span(true);
    let run = plan.run_until(chain.name("site"), async |_| {
        tracing::info!("validated");
        Validity::Valid
    });
    let expected = [
        "call{call=site}:call{call=site.search}:attempt{attempt=1}: close",
        "call{call=site}: failed",
        "call{call=site}: dead",
        "call{call=site}:call{call=site.search}: close",
        "call{call=site}: validated",
        "call{call=site}: summary:",
        "call{call=site}: close",
    ];
    assert_eq!(Box::pin(ends_of(run)).await, expected);
}
