//! The key `show`: a function that writes an error for the log and for observers.

use futures::stream::{self, Stream, StreamExt};
use support::prelude::*;

/// An error that implements neither `Error` nor `Display`.
#[derive(Clone, Debug, PartialEq)]
struct Refused(u16);

impl From<Rejected> for Refused {
    fn from(_: Rejected) -> Self {
        Self(0)
    }
}

impl From<TimedOut> for Refused {
    fn from(_: TimedOut) -> Self {
        Self(408)
    }
}

fn coded(error: &Refused, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "HTTP {}", error.0)
}

scripted! {
    #[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded)]
    async fn counted() -> Result<(), Refused> = Err(Refused(503));
    #[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded)]
    fn blocking() -> Result<(), Refused> = Err(Refused(503));
    #[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded, timeout = "9s", breaker = breaker)]
    async fn driven(breaker: &Breaker) -> Result<(), Refused> = Err(Refused(503));
    #[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded, hedge = "1s")]
    async fn hedged() -> Result<(), Refused> = Err(Refused(503));
    #[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded, validate = |()| Err(Refused(503)))]
    async fn validated() -> Result<(), Refused> = Ok(());
}

#[retry(max = 1, name = "call", backoff = "none", on = |_| true, show = coded, stream = "first")]
fn streamed() -> impl Stream<Item = Result<(), Refused>> {
    stream::iter([Err(Refused(503))])
}

async fn expression() -> Result<(), Refused> {
    let prefix = String::from("HTTP");
    retrying!(
        max = 1,
        name = "call",
        backoff = "none",
        on = |_| true,
        show = |error, f| write!(f, "{prefix} {}", error.0),
        async { Err(Refused(503)) }
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn each_form_of_the_attribute_logs_the_error_by_the_function() {
    macro_rules! check {
        ($($form:literal => $call:expr;)*) => {$({
            let recording = testing::record();
            assert_eq!($call, Err(Refused(503)), $form);
            let lines = recording.lines();
            assert_eq!(lines.len(), 2, "{}: {lines:?}", $form);
            assert!(lines.iter().all(|line| line.contains("error=HTTP 503 ")), "{}: {lines:?}", $form);
        })*};
    }

    check! {
        "async" => counted().await;
        "blocking" => blocking();
        "driven" => driven(&Breaker::new()).await;
        "hedged" => hedged().await;
        "streamed" => pin!(streamed()).next().await.unwrap();
        "validated" => validated().await;
        "expression" => expression().await;
    }
}

/// Only `E: Display` is known, so by default the log would show the type.
#[tokio::test(start_paused = true)]
async fn a_generic_function_shows_more_than_the_type() {
    #[retry(max = 0, on = |_| true, show = fmt::Display::fmt)]
    async fn call<E: fmt::Display>(error: fn() -> E) -> Result<(), E> {
        Err(error())
    }

    let recording = testing::record();
    call(|| "busy\nat 5").await.unwrap_err();
    let lines = recording.lines();
    assert!(
        lines[0].contains(r"error=busy\nat 5 reason=exhausted"),
        "{lines:?}"
    );
}

/// The rejection and the fallback's error are shown by the same function.
#[tokio::test(start_paused = true)]
async fn rejections_and_failed_fallbacks_are_shown_by_the_function() {
    scripted! {
        #[retry(max = 0, on = |_| true, name = "call", show = coded, breaker = breaker)]
        async fn rejected(breaker: &Breaker) -> Result<(), Refused> = Err(Refused(503));
        #[retry(max = 0, on = |_| true, name = "call", show = coded, fallback = async |_| Err(Refused(404)))]
        async fn replaced() -> Result<(), Refused> = Err(Refused(503));
    }

    let recording = testing::record();
    rejected(&super::breaker::open()).await.unwrap_err();
    replaced().await.unwrap_err();
    assert_eq!(
        recording.lines(),
        [
            "gave up call attempt=0 max=0 error=HTTP 0 reason=rejected",
            "falling back call attempt=1 max=0 error=HTTP 503 reason=exhausted",
            "gave up call attempt=1 max=0 error=HTTP 404 reason=fallback failed",
        ]
    );
}
