//! <https://github.com/alloy-rs/alloy>, `crates/transport/src/layers/retry.rs`: `RetryBackoffLayer`.

use support::prelude::*;

use crate::{Server, millis};

#[derive(Clone, Debug, PartialEq)]
enum TransportError {
    RateLimited(Option<Duration>),
    Custom(String),
    Reverted,
}
use TransportError::{Custom, RateLimited, Reverted};

/// Retries rate limits, and errors for which the caller's closure returns true (`RateLimitRetryPolicy::or`).
fn verdict(error: &TransportError, or: fn(&TransportError) -> bool) -> Verdict {
    match error {
        RateLimited(Some(backoff)) => Verdict::THROTTLED.after(*backoff),
        RateLimited(None) => Verdict::THROTTLED,
        error => Verdict::from(or(error)),
    }
}

/// The error reports that the retries are used up.
fn exceeded(gave_up: GaveUp<TransportError>) -> TransportError {
    match (gave_up.reason(), gave_up.error()) {
        (Reason::Exhausted, error) => Custom(format!("Max retries exceeded {error:?}")),
        _ => gave_up.into_error(),
    }
}

/// The same backoff each time, or the node's hint instead.
#[retry(max = 3, backoff = Backoff::Fixed, base = "800ms", hint = "exact", jitter = "none",
    on = |error| verdict(error, or), give_up = exceeded)]
async fn request(
    server: &mut Server<TransportError>,
    or: fn(&TransportError) -> bool,
) -> Result<&'static str, TransportError> {
    server.answer()
}

#[tokio::test(start_paused = true)]
async fn a_nodes_hint_replaces_the_fixed_backoff() {
    let hint = Some(millis(90));
    let mut server = Server::failing([RateLimited(None), RateLimited(hint), RateLimited(None)]);
    assert_eq!(request(&mut server, |_| false).await, Ok("done"));
    assert_eq!(server.waits(), [800, 90, 800].map(millis));
}

#[tokio::test(start_paused = true)]
async fn the_end_names_its_reason() {
    let mut server = Server::failing(vec![RateLimited(None); 9]);
    let error = request(&mut server, |_| false).await.unwrap_err();
    let expected = Custom("Max retries exceeded RateLimited(None)".into());
    assert_eq!(error, expected);
    assert_eq!(server.asked.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn other_errors_are_classified_by_the_callers_closure() {
    let mut server = Server::failing([Reverted]);
    assert_eq!(request(&mut server, |_| false).await, Err(Reverted));
    let mut server = Server::failing([Reverted]);
    let retried = request(&mut server, |error| *error == Reverted);
    assert_eq!(retried.await, Ok("done"));
}
