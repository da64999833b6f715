//! The SDKs of two model APIs:
//!
//! - <https://github.com/openai/openai-python>: `src/openai/_base_client.py` and `tests/test_client.py`
//! - <https://github.com/anthropics/anthropic-sdk-python>: `src/anthropic/_base_client.py` and `README.md` ("Retries",
//!   "Timeouts", "Streaming")

use futures::{Stream, StreamExt, stream};
use retry_runtime::CallId;
use support::prelude::*;

use crate::{Server, millis, secs};

/// A response: its status and `Retry-After`.
#[derive(Clone, Debug, PartialEq)]
struct Status(u16, Option<Duration>);

const OVERLOADED: Status = Status(529, None);

impl From<TimedOut> for Status {
    fn from(_: TimedOut) -> Self {
        Self(408, None)
    }
}

/// A `Retry-After` of up to a minute is taken as it is, any other not at all.
fn verdict(status: &Status) -> Verdict {
    match *status {
        Status(408 | 409 | 429 | 500.., Some(after)) if !after.is_zero() && after <= secs(60) => {
            Verdict::TRANSIENT.after(after)
        }
        Status(408 | 409 | 429 | 500.., _) => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Returns the values of the header `x-stainless-retry-count`.
#[retry(max = 4, base = "500ms", cap = "8s", jitter = "none", hint = "exact", on = verdict, attempt = attempt)]
async fn post(server: &mut Server<Status>, counts: &mut Vec<u32>) -> Result<&'static str, Status> {
    counts.push(attempt.number() - 1);
    server.answer()
}

/// `test_parse_retry_after_header`, and `test_retries_taken`.
#[tokio::test(start_paused = true)]
async fn a_reasonable_retry_after_is_used_unchanged_and_retries_are_counted_in_a_header() {
    for (retry_after, wait) in [
        (Some(secs(20)), secs(20)),
        (Some(secs(60)), secs(60)),
        (Some(secs(0)), millis(500)),
        (Some(secs(61)), millis(500)),
        (Some(Duration::MAX), millis(500)),
        (None, millis(500)),
    ] {
        let mut counts = Vec::new();
        let mut server = Server::failing([Status(429, retry_after), OVERLOADED]);
        assert_eq!(post(&mut server, &mut counts).await, Ok("done"));
        assert_eq!(server.waits(), [wait, secs(1)]);
        assert_eq!(counts, [0, 1, 2]);
    }
}

/// Each attempt has ten minutes; the idempotency key stays the same.
#[retry(max = 2, base = "500ms", cap = "8s", jitter = "none", on = verdict, timeout = "10m", attempt = attempt)]
async fn create(
    server: &mut Server<Status>,
    keys: &mut Vec<CallId>,
) -> Result<&'static str, Status> {
    keys.push(attempt.call_id());
    if server.asked.is_empty() {
        server.asked.push(secs(0));
        sleep(secs(3600)).await;
    }
    server.answer()
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_retried_with_the_same_key() {
    let (mut server, mut keys) = (Server::failing([OVERLOADED]), Vec::new());
    assert_eq!(create(&mut server, &mut keys).await, Ok("done"));
    assert_eq!(server.waits(), [secs(600) + millis(500), secs(1)]);
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]));
}

/// A stream is opened again until its first event, and never after: its reader has seen a part.
#[retry(stream, max = 2, base = "500ms", cap = "8s", jitter = "none", on = verdict)]
fn stream_events(
    server: &mut Server<Status>,
    events: usize,
) -> impl Stream<Item = Result<&'static str, Status>> {
    let mut answers = vec![Ok("token"); events];
    answers.push(server.answer());
    stream::iter(answers)
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_opened_again_before_its_first_event_only() {
    let mut server = Server::failing([OVERLOADED]);
    let items: Vec<_> = stream_events(&mut server, 0).collect().await;
    assert_eq!(items, [Ok("done")]);
    assert_eq!(server.waits(), [millis(500)]);

    let mut server = Server::failing([OVERLOADED]);
    let items: Vec<_> = stream_events(&mut server, 1).collect().await;
    assert_eq!(items, [Ok("token"), Err(OVERLOADED)]);
    assert_eq!(server.asked.len(), 1);
}
