//! `#[retry(wrapper = …)]` on traits: types that retry any wrapped client.

#![allow(async_fn_in_trait, clippy::unused_async)]

mod arguments;
mod async_trait;
/// Has the name of a tool whose attributes generated code contains.
mod diagnostic {}
mod foreign;
mod generic;
mod own_bodies;
mod parameters;
mod pointers;
mod static_types;
mod streams;

use std::fmt::Debug;
use std::panic::Location;

use support::prelude::*;

#[derive(Debug, PartialEq, Eq)]
struct Busy(u32);

/// A client that fails a number of times.
#[derive(Clone, Debug, Default)]
struct Flaky {
    failures: u32,
    attempts: Cell<u32>,
}

impl Flaky {
    fn new(failures: u32) -> Self {
        Self {
            failures,
            attempts: Cell::new(0),
        }
    }

    fn answer(&self) -> Result<u32, Busy> {
        let attempt = self.attempts.get() + 1;
        self.attempts.set(attempt);
        if attempt <= self.failures {
            Err(Busy(attempt))
        } else {
            Ok(attempt)
        }
    }
}

/// A client that threads share, and that succeeds at the third attempt.
#[derive(Debug, Default)]
struct SharedFlaky(AtomicU32);

impl SharedFlaky {
    fn answer(&self) -> Result<u32, Busy> {
        match self.0.fetch_add(1, Ordering::Relaxed) + 1 {
            3 => Ok(3),
            attempt => Err(Busy(attempt)),
        }
    }
}

/// A model.
#[retry(wrapper = Retrying, max = 3, base = "1s", jitter = "none", name = "model", on = |_| true)]
trait Model: Debug {
    /// The kind of model.
    const KIND: &'static str;

    async fn complete(&self, prompt: &str) -> Result<u32, Busy>;

    async fn charge(&mut self, amount: u32) -> Result<u32, Busy>;

    #[retry(max = 1, name = "own")]
    fn blocking(&self) -> Result<u32, Busy>;

    #[retry(skip)]
    async fn once(&self) -> Result<u32, Busy>;

    #[retry(skip)]
    async fn count(&self) -> u32;

    fn attempts(&self) -> u32;

    fn future(&self) -> impl Future<Output = Result<u32, Busy>>;

    /// Calls another method: through a decorator, that of what it wraps.
    async fn provided(&self) -> Result<u32, Busy> {
        self.complete("provided").await
    }

    fn describe(&self) -> String {
        format!("default {}", self.attempts())
    }

    fn with_failures(self, failures: u32) -> Self
    where
        Self: Sized;

    fn into_attempts(self) -> u32
    where
        Self: Sized;
}

impl Model for Flaky {
    const KIND: &'static str = "flaky";

    scripted! {
        async fn complete(&self, prompt: &str) -> Result<u32, Busy> = {
            assert!(!prompt.is_empty());
            self.answer()
        };
        async fn charge(&mut self, amount: u32) -> Result<u32, Busy> = self.answer().map(|answer| answer + amount);
        fn blocking(&self) -> Result<u32, Busy> = self.answer();
        async fn once(&self) -> Result<u32, Busy> = self.answer();
        async fn count(&self) -> u32 = self.attempts.get();
        fn attempts(&self) -> u32 = self.attempts.get();
        fn future(&self) -> impl Future<Output = Result<u32, Busy>> = ready(self.answer());
        fn describe(&self) -> String = format!("flaky {}", self.failures);
        fn with_failures(self, failures: u32) -> Self = Self { failures, ..self };
        fn into_attempts(self) -> u32 = self.attempts.get();
    }
}

#[tokio::test(start_paused = true)]
async fn every_method_that_can_fail_is_retried() {
    let model = Retrying::new(Flaky::new(3));
    assert_eq!(model.complete("hello").await, Ok(4));
    assert_eq!(model.attempts(), 4);
    let model = Retrying::new(Flaky::new(9));
    assert_eq!(model.complete("hello").await, Err(Busy(4)));
    let model = Retrying::new(Flaky::new(2));
    assert_eq!(model.future().await, Ok(3));
    let mut model = Retrying::new(Flaky::new(2));
    assert_eq!(model.charge(100).await, Ok(103));
    // A provided method isn't retried twice.
    let model = Retrying::new(Flaky::new(9));
    assert_eq!(model.provided().await, Err(Busy(4)));
}

#[tokio::test(start_paused = true)]
async fn a_method_overrides_single_keys() {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let model = Retrying::new(Flaky::new(9));
    assert_eq!(model.blocking(), Err(Busy(2)));
    assert_eq!(recording.delays(), [secs(1)]);
    assert!(recording.lines()[0].starts_with("retrying own attempt=1 max=1 delay=1s"));
    let _ = Retrying::new(Flaky::new(1)).complete("hello").await;
    assert!(recording.lines()[2].starts_with("retrying model.complete attempt=1 max=3 delay=1s"));
}

#[tokio::test(start_paused = true)]
async fn skipped_ones_and_those_that_cannot_fail_are_handed_on() {
    let model = Retrying::new(Flaky::new(9));
    assert_eq!(model.once().await, Err(Busy(1)));
    assert_eq!(model.count().await, 1);
    assert_eq!(model.attempts(), 1);
    assert_eq!(model.describe(), "flaky 9");
    assert_eq!(<Retrying<Flaky> as Model>::KIND, "flaky");
    let model = model.with_failures(1);
    assert_eq!(model.complete("hello").await, Ok(2));
    assert_eq!(model.into_attempts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_time_policy_replaces_the_attributes() {
    let policy = Policy::none().max(5);
    let model = Retrying::with_policy(Flaky::new(9), policy);
    assert_eq!(model.complete("hello").await, Err(Busy(6)));
    // A method's own numbers stay.
    let model = Retrying::with_policy(Flaky::new(9), policy);
    assert_eq!(model.blocking(), Err(Busy(2)));
    let policy = Policy::fixed(secs(1)).max(u32::MAX);
    let policy = policy.jitter(Jitter::None).deadline(secs(4));
    let model = Retrying::with_policy(Flaky::new(99), policy);
    assert_eq!(model.complete("hello").await, Err(Busy(5)));
}

#[test]
fn the_client_stays_reachable() {
    let model = Retrying::new(Flaky::new(7));
    assert_eq!(model.inner().failures, 7);
    assert_eq!(model.clone().into_inner().failures, 7);
    assert!(format!("{model:?}").starts_with("Retrying { client: Flaky { failures: 7"));
}

#[retry(wrapper = RetryingSections, max = 0, throttled(max = 5, jitter = "none"), on = |_| Verdict::THROTTLED)]
trait Sections {
    #[retry(throttled(base = "2s"))]
    async fn complete(&self) -> Result<u32, Busy>;

    /// Must not run twice.
    #[retry(max = 0)]
    async fn charge(&self) -> Result<u32, Busy>;
}

impl Sections for Flaky {
    scripted! {
        async fn complete(&self) -> Result<u32, Busy> = self.answer();
        async fn charge(&self) -> Result<u32, Busy> = self.answer();
    }
}

#[tokio::test(start_paused = true)]
async fn a_methods_section_lies_over_the_traits_and_that_of_a_policy_key_by_key() {
    let recording = testing::record();
    let model = RetryingSections::new(Flaky::new(9));
    assert_eq!(model.complete().await, Err(Busy(6)));
    let expected = [2, 4, 8, 16, 30].map(secs);
    assert_eq!(recording.delays(), expected);

    let recording = testing::record();
    let section = Section::new().max(3).backoff(Backoff::Fixed).base(secs(9));
    let policy = Policy::new().max(0).throttled(section.jitter(Jitter::None));
    let model = RetryingSections::with_policy(Flaky::new(9), policy);
    assert_eq!(model.complete().await, Err(Busy(4)));
    assert_eq!(recording.delays(), [secs(2); 3]);
    // A method's `max` beats both sections.
    for model in [
        RetryingSections::new(Flaky::new(9)),
        RetryingSections::with_policy(Flaky::new(9), policy),
    ] {
        assert_eq!(model.charge().await, Err(Busy(1)));
    }
}

#[retry(wrapper = RetryingChat, max = 1, backoff = "none", on = |_| true)]
trait Chat {
    fn complete(&self) -> Result<(), Busy> {
        Err(Busy(1))
    }

    #[retry(name = "own")]
    fn named(&self) -> Result<(), Busy> {
        Err(Busy(1))
    }

    fn connect() -> Result<(), Busy>
    where
        Self: Sized,
    {
        Err(Busy(1))
    }

    #[track_caller]
    fn line(&self) -> Result<(), u32> {
        Err(Location::caller().line())
    }
}

struct OpenAi;
impl Chat for OpenAi {}

/// One decorator is used for many clients: the log shows which one.
#[test]
fn the_default_name_is_that_of_the_client() {
    struct Traced<T>(T);
    impl<T> Chat for Traced<T> {}

    let recording = testing::record();
    let _ = RetryingChat::new(OpenAi).complete();
    let _ = RetryingChat::new(Traced(OpenAi)).complete();
    let _ = RetryingChat::new(OpenAi).named();
    let _ = RetryingChat::<OpenAi>::connect();
    let lines = recording.lines();
    // Each is retried once.
    assert_eq!(lines.len(), 2 * 4);
    let ends = lines
        .iter()
        .filter_map(|line| line.strip_prefix("gave up "));
    let names = ends.filter_map(|end| end.split(' ').next());
    let expected = "OpenAi::complete Traced<OpenAi>::complete own OpenAi::connect";
    assert_eq!(names.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn a_client_sees_where_its_decorator_was_called() {
    let (line, seen) = (line!(), RetryingChat::new(OpenAi).line());
    assert_eq!(seen, Err(line));
}
