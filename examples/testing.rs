//! Tests of code that retries, as a template: `cargo test -p examples --test testing`.
//!
//! The code under test is a model client at the end of this file.

use std::time::Duration;

use retry_observers::Stats;
use retry_runtime::testing::{Recorder, Scope, Script, fail_times, sequence};
use retry_runtime::{Classify, Reason, TimedOut, retry};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// With a paused clock, calls don't wait, and elapsed times are exact.
#[tokio::test(start_paused = true)]
async fn it_retries_until_the_server_answers() {
    let model = Model::new(sequence([
        Err(ModelError::Overloaded),
        Err(ModelError::Throttled { wait: 9 * SECOND }),
        Ok("hello"),
    ]));
    let start = Instant::now();
    assert_eq!(model.complete().await, Ok("hello"));
    assert_eq!(model.server.attempts(), 3);
    assert_eq!(start.elapsed(), SECOND + 9 * SECOND);
}

/// An error that is not worth a retry is not retried.
#[tokio::test(start_paused = true)]
async fn it_gives_up_at_once_on_a_wrong_key() {
    let model = Model::new(sequence([Err(ModelError::WrongKey)]));
    assert_eq!(model.complete().await, Err(ModelError::WrongKey));
}

/// A recorder contains the number of attempts, the pauses before them, and the reason for the end.
#[tokio::test(start_paused = true)]
async fn it_gives_up_after_three_retries() {
    let model = Model::new(sequence([const { Err(ModelError::Overloaded) }; 4]));
    assert_eq!(model.complete().await, Err(ModelError::Overloaded));
    assert_eq!(model.recorder.attempts(), [4]);
    assert_eq!(model.recorder.delays(), [SECOND, 2 * SECOND, 4 * SECOND]);
    assert_eq!(model.recorder.reasons(), [Reason::Exhausted]);
}

/// An attempt that hangs is dropped after its timeout.
#[tokio::test(start_paused = true)]
async fn it_does_not_wait_for_ever() {
    let start = Instant::now();
    assert_eq!(hang().await, Err(ModelError::NoAnswer));
    assert_eq!(start.elapsed(), 30 * SECOND + SECOND + 30 * SECOND);
}

/// A scope skips pauses in tasks on any thread. It needs no paused clock, which requires a single-threaded runtime.
#[tokio::test(flavor = "multi_thread")]
async fn each_task_recovers_by_itself() {
    let scopes = [0, 1, 2].map(|failures| {
        let scope = Scope::new().skip_sleeps();
        let task = tokio::spawn(scope.run(async move {
            let server = fail_times(failures, ModelError::Overloaded);
            probe(&server).await
        }));
        (scope, task)
    });
    for ((scope, task), pauses) in scopes.into_iter().zip([0, 1, 3]) {
        task.await.expect("no panic").expect("recovered");
        assert_eq!(scope.skipped(), pauses * SECOND);
    }
}

/// The same seed gives the same jitter.
#[test]
fn blocking_code_is_tested_alike() {
    let delays = |seed| {
        let scope = Scope::new().skip_sleeps().seed(seed);
        assert!(scope.run_blocking(read).is_err());
        scope.delays()
    };
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}

/// `Stats` counts calls for the whole program, without the log.
#[tokio::test(start_paused = true)]
async fn calls_are_counted() {
    static STATS: Stats = Stats::new();

    #[retry(max = 1, observe = &STATS)]
    async fn fetch(server: &Script<(), ModelError>) -> Result<(), ModelError> {
        server.next()
    }

    for failures in [0, 1, 2] {
        let _ = fetch(&fail_times(failures, ModelError::Overloaded)).await;
    }
    let totals = STATS.totals();
    assert_eq!(
        (totals.calls(), totals.recovered, totals.gave_up()),
        (3, 1, 1)
    );
}

#[derive(Classify, Clone, Debug, PartialEq, thiserror::Error)]
enum ModelError {
    #[error("503 overloaded")]
    #[classify(transient)]
    Overloaded,
    #[error("429 too many requests")]
    #[classify(throttled, after = wait)]
    Throttled { wait: Duration },
    #[error("401 unauthorized")]
    #[classify(stop)]
    WrongKey,
    #[error("no answer in time")]
    #[classify(timeout)]
    NoAnswer,
}

impl From<TimedOut> for ModelError {
    fn from(_: TimedOut) -> Self {
        Self::NoAnswer
    }
}

struct Model {
    server: Script<&'static str, ModelError>,
    recorder: Recorder,
}

impl Model {
    fn new(server: Script<&'static str, ModelError>) -> Self {
        Self {
            server,
            recorder: Recorder::new(),
        }
    }

    #[retry(max = 3, jitter = "none", observe = &self.recorder)]
    async fn complete(&self) -> Result<&'static str, ModelError> {
        self.server.next()
    }
}

#[retry(max = 1, jitter = "none", timeout = "30s")]
async fn hang() -> Result<(), ModelError> {
    std::future::pending().await
}

#[retry(max = 3, jitter = "none")]
async fn probe(server: &Script<(), ModelError>) -> Result<(), ModelError> {
    server.next()
}

#[retry(max = 3)]
fn read() -> Result<(), ModelError> {
    Err(ModelError::Overloaded)
}
