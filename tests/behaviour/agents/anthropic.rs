//! <https://github.com/anthropics/anthropic-sdk-python>: `src/anthropic/_base_client.py` and `README.md` ("Retries",
//! "Timeouts", "Streaming").

use futures::{Stream, StreamExt, stream};
use retry_runtime::CallId;
use support::prelude::*;

use crate::openai::{Status, status, verdict};
use crate::{Server, millis, secs};

impl From<TimedOut> for Status {
    fn from(_: TimedOut) -> Self {
        status(408)
    }
}

/// Two retries, each attempt of ten minutes; the idempotency key stays the same.
#[retry(max = 2, base = "500ms", factor = 2, cap = "8s", jitter = "none", hint = "exact", on = verdict,
    timeout = "10m", attempt = attempt)]
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
    let (mut server, mut keys) = (Server::failing([status(529)]), Vec::new());
    assert_eq!(create(&mut server, &mut keys).await, Ok("done"));
    assert_eq!(server.waits(), [secs(600) + millis(500), secs(1)]);
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]));
}

/// A stream is opened again until its first event, and never after: its reader has seen a part.
#[retry(stream, max = 2, base = "500ms", factor = 2, cap = "8s", jitter = "none", on = verdict)]
fn stream_events(
    server: &mut Server<Status>,
    events: usize,
) -> impl Stream<Item = Result<&'static str, Status>> {
    let answers: Vec<_> = match server.answer() {
        Err(error) => (0..events)
            .map(|_| Ok("token"))
            .chain([Err(error)])
            .collect(),
        Ok(answer) => vec![Ok(answer)],
    };
    stream::iter(answers)
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_opened_again_before_its_first_event_only() {
    let overloaded = || Server::failing([status(529)]);
    let mut server = overloaded();
    let items: Vec<_> = stream_events(&mut server, 0).collect().await;
    let expected = (vec![Ok("done")], vec![millis(500)]);
    assert_eq!((items, server.waits()), expected);

    let mut server = overloaded();
    let items: Vec<_> = stream_events(&mut server, 1).collect().await;
    assert_eq!(items, [Ok("token"), Err(status(529))]);
    assert_eq!(server.asked.len(), 1);
}
