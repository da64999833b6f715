//! Calls that are retried inside attempts of other calls, and the warnings about them.

use std::error::Error;
use std::future::{Future, pending, ready};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt, stream};
use retry_work::plan::{PlanEnd, Validity};
use retry_runtime::testing::{self, Recording};
use retry_runtime::{Backoff, Event, EventData, Policy, Verdict, retry, retrying};
use retry_work::{Plan, retry_each, retry_each_blocking};
use tokio::task::{LocalSet, spawn, spawn_local, yield_now};
use tokio::time::{sleep, timeout};

type Outcome = Result<u32, String>;

fn failed<T>() -> Result<T, String> {
    Err(String::from("overloaded"))
}

/// Returns the warnings about retries that multiply.
fn reported(recording: &Recording) -> Vec<String> {
    let lines = recording.lines().into_iter();
    lines
        .filter(|line| line.starts_with("retries multiply"))
        .collect()
}

fn line(inner: &str, outer: &str, attempts: u32) -> String {
    format!("retries multiply {inner} attempt=1 outer={outer} attempts={attempts}")
}

/// A name for each test, because each pair of functions is reported once.
#[retry(max = 3, backoff = "none", name = name, on = |_| true)]
async fn inner(name: &str) -> Outcome {
    yield_now().await;
    failed()
}

#[retry(max = 3, backoff = "none", name = name, on = |_| true)]
fn inner_blocking(name: &str) -> Outcome {
    failed()
}

#[tokio::test(start_paused = true)]
async fn three_layers_of_four_attempts_make_sixty_four() {
    #[retry(max = 3, name = "three.outer", on = |_| true)]
    async fn outer(attempts: &mut u32) -> Outcome {
        yield_now().await;
        middle(attempts).await
    }
    #[retry(max = 3, name = "three.middle", on = |_| true)]
    async fn middle(attempts: &mut u32) -> Outcome {
        innermost(attempts).await
    }
    #[retry(max = 3, name = "three.inner", on = |_| true)]
    async fn innermost(attempts: &mut u32) -> Outcome {
        *attempts += 1;
        failed()
    }

    let recording = testing::record();
    let mut attempts = 0;
    outer(&mut attempts).await.unwrap_err();
    assert_eq!(attempts, 64);
    // Each pair is reported once, with any later retries.
    assert_eq!(
        reported(&recording),
        [
            line("three.inner", "three.middle", 64),
            line("three.middle", "three.outer", 16)
        ]
    );
    outer(&mut attempts).await.unwrap_err();
    assert_eq!(reported(&recording).len(), 2);
    // With another outer function, it is another pair.
    #[retry(max = 1, name = "three.other", on = |_| true)]
    async fn other(attempts: &mut u32) -> Outcome {
        innermost(attempts).await
    }
    other(&mut attempts).await.unwrap_err();
    assert_eq!(reported(&recording)[2], line("three.inner", "three.other", 8));
}

#[test]
fn the_log_shows_the_fix_and_observers_get_an_event() {
    #[retry(max = 3, backoff = "none", name = "log.outer", on = |_| true)]
    fn outer(seen: &mut Vec<String>) -> Outcome {
        observed(seen)
    }
    #[retry(max = 3, backoff = "none", name = "log.inner", on = |_| true, observe = |event: &Event<'_>| {
        if let EventData::Nested { outer, attempts } = event.data {
            seen.push(format!("{} {outer} {attempts:?}", event.call));
        }
    })]
    fn observed(seen: &mut Vec<String>) -> Outcome {
        failed()
    }
    #[retry(max = max, backoff = "none", name = "log.unknown", on = |_| true)]
    fn unknown(max: u32) -> Outcome {
        inner_blocking("log.inner")
    }

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);
    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut seen = Vec::new();
    let written = Written::default();
    let writer = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        outer(&mut seen).unwrap_err();
        unknown(3).unwrap_err();
    });
    assert_eq!(seen, ["log.inner log.outer Some(16)"]);
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("multiply"))
        .collect();
    assert_eq!(
        lines,
        [
            " WARN retry: retries multiply, up to 16 attempts: its outer call log.outer retries, too; let only one of them retry call=log.inner attempt=1",
            " WARN retry: retries multiply: its outer call log.unknown retries, too; let only one of them retry call=log.inner attempt=1",
        ]
    );
}

#[test]
fn limits_of_kinds_count_and_calls_without_retries_multiply_nothing() {
    #[retry(max = 1, throttled(max = 2), backoff = "none", name = "kinds.outer", on = |_| Verdict::TRANSIENT)]
    fn kinds() -> Outcome {
        once("kinds.inner")
    }
    #[retry(max = 0, name = "kinds.once", on = |_| true)]
    fn once(name: &str) -> Outcome {
        off(name)
    }
    #[retry(enabled = false, name = "kinds.off", on = |_| true)]
    fn off(name: &str) -> Outcome {
        once_by_name(name, "kinds.by_name")
    }
    #[retry(max = 0, name = outer, on = |_| true)]
    fn once_by_name(name: &str, outer: &str) -> Outcome {
        inner_blocking(name)
    }
    #[retry(max = "unlimited", backoff = "none", name = "kinds.unlimited", on = |_| *attempts < 3)]
    fn unlimited(attempts: &mut u32) -> Outcome {
        *attempts += 1;
        inner_blocking("kinds.inner")
    }
    #[retry(max = 1, backoff = "none", name = "kinds.retries", on = |_| true)]
    fn retries(fails: bool) -> Outcome {
        stopped(fails)
    }
    #[retry(max = 1, backoff = "none", name = "kinds.stopped", on = |_| false)]
    fn stopped(fails: bool) -> Outcome {
        if fails { failed() } else { Ok(1) }
    }

    let recording = testing::record();
    once("kinds.alone").unwrap_err();
    retries(false).unwrap();
    retries(true).unwrap_err();
    assert!(reported(&recording).is_empty());
    kinds().unwrap_err();
    unlimited(&mut 0).unwrap_err();
    assert_eq!(
        reported(&recording),
        [
            line("kinds.inner", "kinds.outer", 16),
            "retries multiply kinds.inner attempt=1 outer=kinds.unlimited".into(),
        ]
    );
}

/// Every form, and what is called in an attempt of it.
struct Client;

#[retry(max = 1, backoff = "none", on = |_| true)]
#[allow(clippy::manual_async_fn)]
impl Client {
    async fn waits(&self) -> Outcome {
        inner("shapes.waits").await
    }

    #[retry(timeout = "1h", on = |_: &Box<dyn Error>| true)]
    async fn limited(&self) -> Result<u32, Box<dyn Error>> {
        Ok(inner("shapes.limited").await?)
    }

    fn blocks(&self) -> Result<u32, String> {
        inner_blocking("shapes.blocks")
    }

    async fn blocks_within(&self) -> Outcome {
        inner_blocking("shapes.blocks_within")
    }

    fn future(&self) -> impl Future<Output = Outcome> + Send {
        async move { inner("shapes.future").await }
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move { inner("shapes.boxed").await })
    }

    #[retry(stream = "first")]
    fn first(&self) -> impl Stream<Item = Outcome> + '_ {
        stream::once(inner("shapes.first"))
    }

    #[retry(stream = "buffer")]
    fn buffer(&self) -> impl Stream<Item = Outcome> + '_ {
        stream::once(inner("shapes.buffer"))
    }

    #[retry(stream = "resume", attempt = attempt)]
    fn resume(&self) -> impl Stream<Item = Outcome> + '_ {
        assert_eq!(attempt.yielded(), 0);
        stream::once(inner("shapes.resume"))
    }

    #[retry(stream = "first")]
    async fn opened(
        &self,
    ) -> Result<Pin<Box<dyn Stream<Item = Outcome> + Send + 'static>>, String> {
        inner("shapes.opened").await?;
        Ok(Box::pin(stream::empty()))
    }

    #[retry(stream = "first")]
    fn opened_at_once(&self) -> Result<impl Stream<Item = Outcome> + '_, String> {
        Ok(stream::once(ready(inner_blocking("shapes.opened_at_once"))))
    }
}

#[tokio::test(start_paused = true)]
async fn every_form_is_detected_inside_an_attempt() {
    let recording = testing::record();
    Client.waits().await.unwrap_err();
    Client.limited().await.unwrap_err();
    Client.blocks().unwrap_err();
    Client.blocks_within().await.unwrap_err();
    Client.future().await.unwrap_err();
    Client.boxed().await.unwrap_err();
    pin!(Client.first()).next().await.unwrap().unwrap_err();
    pin!(Client.buffer()).next().await.unwrap().unwrap_err();
    pin!(Client.resume()).next().await.unwrap().unwrap_err();
    Client.opened().await.map(drop).unwrap_err();
    let opened = Client.opened_at_once().unwrap();
    pin!(opened).next().await.unwrap().unwrap_err();
    let forms = "waits limited blocks blocks_within future boxed first buffer resume opened";
    let forms = forms.split(' ').chain(["opened_at_once"]);
    let expected = forms.map(|form| {
        let (inner, outer) = (format!("shapes.{form}"), format!("nested::Client::{form}"));
        line(&inner, &outer, 8)
    });
    assert_eq!(reported(&recording), expected.collect::<Vec<_>>());
}

#[retry(wrapper = RetryingOnce, max = 0, on = |_| true)]
trait Once {
    async fn complete(&mut self) -> Outcome;
    fn blocking(&mut self) -> Result<u32, String>;
    #[retry(max = 1, base = Duration::ZERO)]
    fn twice(&mut self) -> Result<u32, String>;
    #[retry(max = 9, enabled = false)]
    fn off(&mut self) -> Result<u32, String>;
}

impl Once for Client {
    async fn complete(&mut self) -> Outcome {
        inner("once.complete").await
    }

    fn blocking(&mut self) -> Result<u32, String> {
        inner_blocking("once.blocking")
    }

    fn twice(&mut self) -> Result<u32, String> {
        inner_blocking("once.twice")
    }

    fn off(&mut self) -> Result<u32, String> {
        inner_blocking("once.off")
    }
}

#[tokio::test(start_paused = true)]
async fn decorators_that_make_one_attempt_multiply_nothing() {
    async fn call(mut client: RetryingOnce<Client>) {
        client.complete().await.unwrap_err();
        client.blocking().unwrap_err();
        client.twice().unwrap_err();
        client.off().unwrap_err();
    }

    let recording = testing::record();
    call(RetryingOnce::new(Client)).await;
    assert_eq!(reported(&recording), [line("once.twice", "Client::twice", 8)]);
    // Policies of their own are known at a failure.
    let policy = Policy::none().max(1).backoff(Backoff::None);
    call(RetryingOnce::with_policy(Client, policy)).await;
    let lines = ["complete", "blocking"]
        .map(|method| format!("retries multiply once.{method} attempt=1 outer=Client::{method}"));
    assert_eq!(reported(&recording)[1..], lines);
}

/// Succeeds at the third attempt, which it counts itself.
struct Counting(u32);

#[retry(wrapper = RetryingCounting, max = 2, backoff = "none", on = |_| true)]
trait Counted {
    async fn complete(&mut self, prompt: String) -> Outcome;
    fn blocking(&mut self) -> Result<u32, String>;
}

impl Counted for Counting {
    async fn complete(&mut self, _: String) -> Outcome {
        self.0 += 1;
        match self.0 {
            3 => Ok(3),
            _ => inner("counted.complete").await,
        }
    }

    fn blocking(&mut self) -> Result<u32, String> {
        self.0 += 1;
        match self.0 {
            3 => Ok(3),
            _ => inner_blocking("counted.blocking"),
        }
    }
}

/// Under the name of their client. The properties of a call are read before its attempt, which borrows that mutably.
#[tokio::test(start_paused = true)]
async fn attempts_that_change_the_client_are_counted() {
    let recording = testing::record();
    let mut client = RetryingCounting::new(Counting(0));
    assert_eq!(client.complete(String::new()).await, Ok(3));
    let mut client = RetryingCounting::new(Counting(0));
    assert_eq!(client.blocking(), Ok(3));
    let once_more = Policy::none().max(1).backoff(Backoff::None);
    let mut client = RetryingCounting::with_policy(Counting(0), once_more);
    client.complete(String::new()).await.unwrap_err();
    client.blocking().unwrap();
    let lines = ["complete", "blocking"].map(|method| {
        let (inner, outer) = (format!("counted.{method}"), format!("Counting::{method}"));
        line(&inner, &outer, 12)
    });
    assert_eq!(reported(&recording), lines);
}

#[tokio::test(start_paused = true)]
async fn policies_batches_and_plans_are_outer_calls() {
    let policy = Policy::none().max(1).on(|_: &String| true);
    let recording = testing::record();
    policy.call(|| inner("policies.call")).await.unwrap_err();
    policy
        .call_blocking(|| inner_blocking("policies.call_blocking"))
        .unwrap_err();
    let _ = retry_each(policy, [1, 2], async |_| {
        inner("policies.batch").await?;
        Ok(Vec::<Outcome>::new())
    })
    .await;
    let _ = retry_each_blocking(policy, [1, 2], |_| {
        inner_blocking("policies.batch_blocking")?;
        Ok(Vec::<Outcome>::new())
    });
    let mut plan = Plan::new().name("the plan");
    plan.add("subtask", [], async |[]| inner("policies.plan").await);
    let end = plan
        .run_until(policy, async |_| Validity::Invalid(String::from("missing")))
        .await;
    assert!(matches!(end, Ok(PlanEnd::GaveUp { .. })));
    let function = "nested::policies_batches_and_plans_are_outer_calls";
    assert_eq!(
        reported(&recording),
        [
            line("policies.call", function, 8),
            line("policies.call_blocking", function, 8),
            line("policies.batch", function, 8),
            line("policies.batch_blocking", function, 8),
            line("policies.plan", "the plan", 8),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn policies_and_batches_are_inner_calls() {
    #[retry(max = 1, backoff = "none", name = "within.outer", on = |_| true)]
    async fn outer() -> Outcome {
        call().await.unwrap_err();
        batch().await
    }
    async fn call() -> Outcome {
        let policy = Policy::none().max(1).on(|_: &String| true);
        policy.call(async || failed()).await
    }
    async fn batch() -> Outcome {
        let policy = Policy::none().max(1).on(|_: &String| true);
        let items = retry_each(policy, [1], async |_| failed::<Vec<Outcome>>()).await;
        assert!(items[0].is_err());
        failed()
    }

    let recording = testing::record();
    outer().await.unwrap_err();
    let path = "nested::policies_and_batches_are_inner_calls";
    assert_eq!(
        reported(&recording),
        [
            line(&format!("{path}::call"), "within.outer", 4),
            line(&format!("{path}::batch"), "within.outer", 4)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn blocks_are_outer_and_inner_calls() {
    let recording = testing::record();
    let waits = retrying!(
        max = 1,
        backoff = "none",
        name = "blocks.waits",
        on = |_| true,
        async { inner("blocks.inner").await }
    );
    waits.await.unwrap_err();
    let blocking = retrying!(
        max = 1,
        backoff = "none",
        name = "blocks.blocking",
        on = |_| true,
        { inner_blocking("blocks.inner") }
    );
    blocking.unwrap_err();

    #[retry(max = 1, backoff = "none", name = "blocks.outer", on = |_| true)]
    async fn outer() -> Outcome {
        retrying!(max = 1, backoff = "none", on = |_| true, async {
            failed::<u32>()
        })
        .await
    }
    outer().await.unwrap_err();

    // Without a name that is known in advance, the name is that of the function around the block.
    async fn around(name: &str) -> Outcome {
        retrying!(max = 1, backoff = "none", on = |_| true, async {
            inner(name).await
        })
        .await
    }
    fn computed(name: &str) -> Outcome {
        let own = format!("{name}.own");
        retrying!(max = 1, backoff = "none", name = own, on = |_| true, {
            inner_blocking(name)
        })
    }
    around("blocks.async").await.unwrap_err();
    computed("blocks.sync").unwrap_err();
    let here = "nested::blocks_are_outer_and_inner_calls";
    assert_eq!(
        reported(&recording),
        [
            line("blocks.inner", "blocks.waits", 8),
            line("blocks.inner", "blocks.blocking", 8),
            line(&format!("{here}::outer"), "blocks.outer", 4),
            line("blocks.async", &format!("{here}::around"), 8),
            line("blocks.sync", &format!("{here}::computed"), 8),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn joined_and_boxed_futures_are_inner_calls() {
    #[retry(max = 1, backoff = "none", name = "futures.outer", on = |_| true)]
    async fn outer() -> Outcome {
        let boxed: Pin<Box<dyn Future<Output = Outcome>>> = Box::pin(inner("futures.boxed"));
        let (first, second) = tokio::join!(inner("futures.first"), inner("futures.second"));
        let unordered: stream::FuturesUnordered<_> =
            [inner("futures.unordered")].into_iter().collect();
        unordered.collect::<Vec<_>>().await;
        timeout(Duration::from_secs(1), boxed)
            .await
            .unwrap()
            .and(first)
            .and(second)
    }

    let recording = testing::record();
    outer().await.unwrap_err();
    let names = ["boxed", "first", "second", "unordered"];
    let lines = names.map(|name| line(&format!("futures.{name}"), "futures.outer", 8));
    let mut reported = reported(&recording);
    reported.sort();
    assert_eq!(reported, lines);
}

#[tokio::test(start_paused = true)]
async fn calls_in_other_tasks_do_not_count() {
    #[retry(max = 1, backoff = "none", name = "elsewhere.outer", on = |_| true)]
    async fn outer() -> Outcome {
        let spawned = spawn(inner("elsewhere.spawned"));
        let local = spawn_local(inner("elsewhere.local"));
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let recording = testing::record();
                inner_blocking("elsewhere.thread").unwrap_err();
                assert!(reported(&recording).is_empty());
            });
            thread.join().unwrap();
        });
        spawned.await.unwrap().and(local.await.unwrap())
    }

    let recording = testing::record();
    LocalSet::new().run_until(outer()).await.unwrap_err();
    assert!(reported(&recording).is_empty());
}

#[tokio::test(start_paused = true)]
async fn calls_during_an_attempts_wait_do_not_count() {
    #[retry(max = 1, backoff = "none", name = "meanwhile.outer", on = |_| true)]
    async fn outer() -> Outcome {
        sleep(Duration::from_secs(1)).await;
        failed()
    }

    let recording = testing::record();
    let (first, second) = tokio::join!(outer(), inner("meanwhile.inner"));
    assert!(first.is_err() && second.is_err());
    // Code that runs in the pause, in keys or afterwards doesn't count, either.
    #[retry(max = 1, name = "meanwhile.keys", on = |_| inner_blocking("meanwhile.on").is_err(),
        fallback = async |_| inner("meanwhile.fallback").await)]
    async fn keys() -> Outcome {
        failed()
    }
    let (first, second) = tokio::join!(keys(), inner("meanwhile.pause"));
    assert!(first.is_err() && second.is_err());
    inner("meanwhile.after").await.unwrap_err();
    assert!(reported(&recording).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_leaves_nothing() {
    #[retry(max = 1, backoff = "none", name = "dropped.outer", on = |_| true)]
    async fn outer() -> Outcome {
        pending::<()>().await;
        failed()
    }

    let recording = testing::record();
    {
        let mut call = pin!(outer());
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(call.as_mut().poll(&mut context), Poll::Pending));
        inner("dropped.inner").await.unwrap_err();
    }
    inner("dropped.after").await.unwrap_err();
    assert!(outer().now_or_never().is_none());
    inner("dropped.later").await.unwrap_err();
    assert!(reported(&recording).is_empty());
}

#[test]
fn a_panic_leaves_nothing() {
    #[retry(max = 1, backoff = "none", name = "panics.outer", on = |_| true)]
    fn outer() -> Outcome {
        panic!("the body")
    }
    #[retry(max = 1, backoff = "none", name = "panics.waits", on = |_| true)]
    async fn waits() -> Outcome {
        panic!("the body")
    }
    #[retry(max = 1, backoff = "none", name = "panics.around", on = |_| true)]
    fn around() -> Outcome {
        assert!(catch_unwind(outer).is_err());
        inner_blocking("panics.within")
    }

    let recording = testing::record();
    assert!(catch_unwind(outer).is_err());
    let polled = AssertUnwindSafe(|| waits().now_or_never());
    assert!(catch_unwind(polled).is_err());
    inner_blocking("panics.after").unwrap_err();
    assert!(reported(&recording).is_empty());
    around().unwrap_err();
    assert_eq!(
        reported(&recording),
        [line("panics.within", "panics.around", 8)]
    );
}

#[test]
fn the_feature_keeps_futures_send() {
    fn is_send<T: Send>(_: &T) {}

    #[retry(timeout = "1s", on = |_| true)]
    async fn limited(client: &mut Client, name: &str) -> Result<u32, Box<dyn Error>> {
        client.waits().await?;
        Ok(inner(name).await?)
    }

    let mut client = Client;
    is_send(&limited(&mut client, "send"));
    is_send(&Client.waits());
    is_send(&inner("send"));
}

/// An expression that may turn a call's retries off is evaluated only at a failure.
#[test]
fn a_call_that_may_be_switched_off_has_an_unknown_number_of_attempts() {
    #[retry(max = 3, backoff = "none", enabled = on, name = "switch.outer", on = |_| true)]
    fn outer(on: bool) -> Outcome {
        inner_blocking("switch.inner")
    }

    struct Agent;

    #[retry(wrapper = Switched, max = 3, backoff = "none", on = |_| true)]
    trait Step {
        #[retry(enabled = on)]
        fn step(&self, on: bool) -> Result<u32, String>;
    }

    impl Step for Agent {
        fn step(&self, _: bool) -> Result<u32, String> {
            inner_blocking("switch.decorated")
        }
    }

    #[retry(max = 0, enabled = on, name = "switch.once", on = |_| true)]
    fn once(on: bool) -> Outcome {
        inner_blocking("switch.alone")
    }

    let recording = testing::record();
    outer(false).unwrap_err();
    Switched::new(Agent).step(false).unwrap_err();
    once(true).unwrap_err();
    assert_eq!(
        reported(&recording),
        [
            "retries multiply switch.inner attempt=1 outer=switch.outer",
            "retries multiply switch.decorated attempt=1 outer=Agent::step",
        ]
    );
}
