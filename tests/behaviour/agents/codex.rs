//! <https://github.com/openai/codex>: `codex-rs/core/src/util.rs` (`backoff`), the retries of streams ("Reconnecting...
//! 1/5"), and the fallback from one transport to another.

use support::prelude::*;

use crate::{Server, millis};

#[derive(Clone, Debug, PartialEq)]
enum CodexError {
    Stream(Option<Duration>),
    ContextWindowExceeded,
    UsageLimitReached,
}
use CodexError::{ContextWindowExceeded, Stream, UsageLimitReached};

fn verdict(error: &CodexError) -> Verdict {
    match error {
        Stream(Some(delay)) => Verdict::TRANSIENT.after(*delay),
        Stream(None) => Verdict::TRANSIENT,
        ContextWindowExceeded => Verdict::INVALID,
        UsageLimitReached => Verdict::STOP,
    }
}

struct Session {
    server: Server<CodexError>,
    https: Server<CodexError>,
    shown: Vec<String>,
}

impl Session {
    fn new(errors: impl IntoIterator<Item = CodexError>) -> Self {
        Self {
            server: Server::failing(errors),
            https: Server::failing([]),
            shown: Vec::new(),
        }
    }

    /// 200 ms, doubled, ± 10 %, five times; the server's own delay is taken as it is. Without jitter, to be exact.
    #[retry(max = 5, base = "200ms", factor = 2, jitter = "none", hint = "exact", on = verdict,
        invalid(max = 0),
        observe = |event| if let EventData::Retrying { retry, retry_max: Some(max), .. } = event.data {
            self.shown.push(format!("Reconnecting... {retry}/{max}"));
        },
        fallback = async |gave_up: GaveUp<CodexError>| match gave_up.reason() {
            Reason::Exhausted if !matches!(gave_up.error(), ContextWindowExceeded) => self.over_https().await,
            _ => Err(gave_up.into_error()),
        })]
    async fn sample(&mut self) -> Result<&'static str, CodexError> {
        self.server.answer()
    }

    /// The same retries, with a new count.
    #[retry(max = 5, base = "200ms", factor = 2, jitter = "none", hint = "exact", on = verdict)]
    async fn over_https(&mut self) -> Result<&'static str, CodexError> {
        self.https.answer()
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_is_opened_again_and_shown() {
    let mut session = Session::new([Stream(None), Stream(Some(millis(28))), Stream(None)]);
    assert_eq!(session.sample().await, Ok("done"));
    assert_eq!(session.server.waits(), [200, 28, 800].map(millis));
    let shown = [1, 2, 3].map(|retry| format!("Reconnecting... {retry}/5"));
    assert_eq!(session.shown, shown);
}

#[tokio::test(start_paused = true)]
async fn after_the_last_retry_it_switches_to_https_with_a_new_count() {
    let mut session = Session::new(vec![Stream(None); 6]);
    session.https = Server::failing(vec![Stream(None); 5]);
    assert_eq!(session.sample().await, Ok("done"));
    let waits = [200, 400, 800, 1600, 3200].map(millis);
    assert_eq!(session.server.waits(), waits);
    assert_eq!(session.https.waits(), waits);
}

#[tokio::test(start_paused = true)]
async fn no_retry_of_a_turn_that_can_t_succeed() {
    for error in [ContextWindowExceeded, UsageLimitReached] {
        let mut session = Session::new([error.clone()]);
        assert_eq!(session.sample().await, Err(error));
        let asked = [&session.server, &session.https].map(|server| server.asked.len());
        assert_eq!(asked, [1, 0]);
    }
}
