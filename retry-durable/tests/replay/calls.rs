//! Settings that a call takes from its policy.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_durable::{Durable, DurableError, DurablePolicy};
use retry_runtime::testing;
use tokio::join;
use tokio::time::sleep;

use crate::run::Run;
use crate::server::is_busy;
use crate::{EXACT, secs};

#[tokio::test(start_paused = true)]
async fn an_ignored_timeout_is_logged() {
    let run = Run::new();
    let recording = testing::record();
    for _ in 0..2 {
        let journal = run.open();
        let call = Durable::new(EXACT.timeout(secs(1))).on(is_busy);
        let hung = async || {
            sleep(secs(60)).await;
            Ok::<_, String>(7)
        };
        assert_eq!(call.call(&journal, "hang", hung).await.unwrap(), 7);
        let lines = recording.lines();
        let warning = "ignoring the policy's timeout hang reason=";
        assert!(lines[0].starts_with(warning), "{lines:?}");
        assert_eq!(lines.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_without_on_uses_classify() {
    let run = Run::new();
    let failures = AtomicU32::new(0);
    let journal = run.open();
    let outcome = EXACT.durable(&journal, "read", async || {
        failures.fetch_add(1, SeqCst);
        Err::<(), _>(Refused)
    });
    assert!(matches!(outcome.await, Err(DurableError::GaveUp(Refused))));
    assert_eq!(failures.load(SeqCst), 4);
}

#[derive(Debug, retry_runtime::Classify, serde::Serialize, serde::Deserialize)]
#[classify(transient)]
struct Refused;

#[tokio::test]
async fn two_calls_of_a_run_are_independent_and_may_be_concurrent() {
    let run = Run::new();
    for _ in 0..2 {
        let journal = run.open();
        let call = |value: u32| {
            let call = Durable::new(EXACT).on(is_busy);
            let name = format!("call {value}");
            let journal = &journal;
            async move {
                call.call(journal, &name, async || Ok::<_, String>(value))
                    .await
            }
        };
        let (one, two) = join!(call(1), call(2));
        assert_eq!((one.unwrap(), two.unwrap()), (1, 2));
    }
}

/// An error whose `Display` fails.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Speechless;

impl retry_runtime::Classify for Speechless {
    fn classify(&self) -> retry_runtime::Verdict {
        retry_runtime::Verdict::TRANSIENT
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no ")?;
        Err(fmt::Error)
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_shown_is_retried_like_others() {
    let (run, recording) = (Run::new(), testing::record());
    let journal = run.open();
    let outcome = EXACT.durable(&journal, "read", async || Err::<(), _>(Speechless));
    assert!(matches!(
        outcome.await,
        Err(DurableError::GaveUp(Speechless))
    ));
    let lines = recording.lines();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].contains(" error=no "), "{lines:?}");
}
