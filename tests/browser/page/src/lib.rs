//! Makes calls in a page, and reports their outcomes.

mod at_once;

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use gloo_timers::future::TimeoutFuture;
use retry_protections::{Breaker, RateLimiter};
use retry_runtime::{ErrorForRetry, Event, EventData, Policy, retry};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;
use web_time::Instant;

type AnyError = Box<dyn Error + Send + Sync>;

/// Runs all scenarios against the server at this address; `closed` is an address without a server. Returns a line for
/// each.
#[wasm_bindgen]
pub async fn run(server: String, closed: String) -> Vec<String> {
    // The console adds the time, because the subscriber would read it from the standard library.
    let log = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .without_time()
        .with_writer(tracing_web::MakeConsoleWriter);
    tracing_subscriber::registry().with(log).init();

    let url = |path: &str| format!("{server}{path}");
    let mut lines = Vec::new();
    let mut report = |name: &str, text: String| lines.push(format!("{name}: {text}"));

    for path in ["flaky", "after", "date"] {
        report(path, shown(flaky(&url(path)).await));
    }
    report("stalling", shown(stalling(&url("stalling")).await));
    report("trickling", shown(trickling(&url("trickling")).await));
    report("down", shown(down(&url("down")).await));

    let attempts = Cell::new(0);
    unreachable(&closed, &attempts).await.unwrap_err();
    ambiguous(&closed, &attempts).await.unwrap_err();
    report("unreachable", format!("{} attempts", attempts.get()));

    let (delays, id) = random_values().await;
    report("delays", format!("{delays:?}"));
    report("call id", id);
    report("limited", limited().await);
    report("blocking", blocking());
    report("patient", patient().await);

    for (form, call) in at_once::FORMS {
        // The last of these requests names the form in which a page hangs.
        let _ = reqwest::get(url(form)).await;
        let outcome = call(&at_once::Server::new()).await;
        report(form, shown(outcome.map(|()| String::from("up"))));
    }
    lines
}

/// Waits according to the policy or the server's hint.
#[retry(max = 3, base = 200ms, jitter = "none")]
async fn flaky(url: &str) -> Result<String, AnyError> {
    get(url).await
}

#[retry(max = 1, base = 100ms, jitter = "none", timeout = 300ms)]
async fn stalling(url: &str) -> Result<String, AnyError> {
    get(url).await
}

/// The client's timeout ends the wait for the rest of the body.
#[retry(max = 1, base = 100ms, jitter = "none")]
async fn trickling(url: &str) -> Result<String, AnyError> {
    let request = reqwest::Client::new().get(url);
    let response = request.timeout(Duration::from_millis(300)).send().await?;
    Ok(response.text().await?)
}

/// Only the deadline ends this call.
#[retry(max = "unlimited", backoff = "fixed", base = 500ms, jitter = "none", deadline = 1400ms)]
async fn down(url: &str) -> Result<String, AnyError> {
    get(url).await
}

#[retry(max = 1, backoff = "none")]
async fn unreachable(url: &str, attempts: &Cell<u32>) -> Result<String, AnyError> {
    attempts.set(attempts.get() + 1);
    get(url).await
}

#[retry(max = 1, backoff = "none", idempotent = false)]
async fn ambiguous(url: &str, attempts: &Cell<u32>) -> Result<String, AnyError> {
    attempts.set(attempts.get() + 1);
    get(url).await
}

async fn get(url: &str) -> Result<String, AnyError> {
    let response = reqwest::get(url).await?.error_for_retry().await?;
    Ok(response.text().await?)
}

/// The jitter of three pauses, and an idempotency key.
async fn random_values() -> (Vec<Duration>, String) {
    let delays = RefCell::new(Vec::new());
    let observer = |event: &Event<'_>| {
        if let EventData::Retrying { delay, .. } = event.data {
            delays.borrow_mut().push(delay);
        }
    };

    #[retry(max = 3, backoff = "fixed", base = 20ms, attempt = attempt, observe = &observer, on = |_| true)]
    async fn refused(observer: impl Fn(&Event<'_>)) -> Result<(), String> {
        Err(attempt.call_id().to_string())
    }

    let id = refused(&observer).await.unwrap_err();
    (delays.into_inner(), id)
}

/// Shared protections use the page's clock.
async fn limited() -> String {
    static BREAKER: Breaker = Breaker::new();
    static LIMITER: RateLimiter<retry_protections::Quota> =
        RateLimiter::fixed(1, Duration::from_millis(150)).burst(1);

    let started = Instant::now();
    let attempts = Cell::new(0);
    let outcome = Policy::none()
        .max(2)
        .on(|_: &AnyError| true)
        .breaker(&BREAKER)
        .limiter(&LIMITER)
        .call(async || {
            attempts.set(attempts.get() + 1);
            Err::<(), AnyError>("busy".into())
        })
        .await;
    let waited = started.elapsed() >= Duration::from_millis(300);
    format!(
        "{} after {} attempts, waited: {waited}",
        outcome.unwrap_err(),
        attempts.get()
    )
}

/// A thread that must not sleep makes attempts without a pause.
fn blocking() -> String {
    #[retry(max = 2, backoff = "none", on = |_| true)]
    fn parse(attempts: &Cell<u32>) -> Result<(), String> {
        attempts.set(attempts.get() + 1);
        Err(String::from("cut short"))
    }

    let attempts = Cell::new(0);
    parse(&attempts).unwrap_err();
    let policy = Policy::none().max(2);
    let outcome = policy.on(|_: &AnyError| true).call_blocking(|| {
        attempts.set(attempts.get() + 1);
        Err::<(), AnyError>("cut short".into())
    });
    format!("{} after {} attempts", outcome.unwrap_err(), attempts.get())
}

/// A pause longer than `setTimeout` can count does not end at once.
async fn patient() -> String {
    let attempts = Rc::new(Cell::new(0));
    let counted = Rc::clone(&attempts);

    #[retry(backoff = "fixed", base = "30d", cap = "30d", jitter = "none", on = |_| true)]
    async fn call(attempts: &Cell<u32>) -> Result<(), String> {
        attempts.set(attempts.get() + 1);
        Err(String::from("busy"))
    }

    spawn_local(async move {
        let _ = call(&counted).await;
    });
    TimeoutFuture::new(100).await;
    format!("{} attempts", attempts.get())
}

fn shown(outcome: Result<String, AnyError>) -> String {
    outcome.unwrap_or_else(|error| error.to_string())
}
