//! Engines that fail, and engines that cancel a run.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use retry_durable::{Durable, DurableError, Engine, Journal};
use retry_runtime::seam::Moment;
use retry_runtime::{Event, EventData, Observer, testing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout};

use crate::run::Run;
use crate::server::{Server, Turns, is_busy};
use crate::{EXACT, secs};

/// Runs each step, and then can't store the result: it fails, or never ends.
struct Forgetful {
    clock: Instant,
    fails: bool,
}

impl Engine for Forgetful {
    type Error = &'static str;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, &'static str>
    where
        S: Future<Output = T> + Send,
    {
        let result = step.await;
        match name {
            "charge: begun" => Ok(result),
            _ if self.fails => Err("the disk is full"),
            _ => std::future::pending().await,
        }
    }

    async fn sleep(&self, _: &str, pause: Duration) -> Result<(), &'static str> {
        sleep(pause).await;
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.clock.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_was_not_stored_is_refunded() {
    for (fails, paid) in [(true, 0), (false, 1)] {
        let engine = Forgetful {
            clock: Instant::now(),
            fails,
        };
        let (server, turns) = (Server::failing(9), Turns::default());
        let call = Durable::new(EXACT).on(is_busy).budget(&turns);
        let call = call.call(&engine, "charge", async || server.post());
        match timeout(secs(1), call).await {
            Ok(ended) => {
                let (error, last) = ("the disk is full", None);
                assert_eq!(ended, Err(DurableError::Engine { error, last }));
            }
            Err(_) => assert!(!fails),
        }
        assert_eq!(server.requests.load(SeqCst), 1);
        assert_eq!(turns.0.load(SeqCst), paid);
    }
}

/// A journal of a run that is cancelled in this step or pause.
struct Cancelled<'a> {
    journal: Journal,
    at: &'a str,
    /// True if the step is running at that time.
    runs: bool,
    oversleeps: Duration,
}

impl Engine for Cancelled<'_> {
    type Error = String;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, String>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        if name != self.at {
            let kept = self.journal.step(name, step).await;
            return kept.map_err(|error| error.to_string());
        }
        if self.runs {
            step.await;
        }
        Err(String::from("cancelled"))
    }

    async fn sleep(&self, name: &str, _: Duration) -> Result<(), String> {
        self.step(name, async {}).await?;
        sleep(self.oversleeps).await;
        Ok(())
    }

    fn now(&self) -> Moment {
        self.journal.now()
    }

    fn is_cancelled(error: &String) -> bool {
        error == "cancelled"
    }
}

/// There is one record, even if the program runs again, and the previous error is not lost.
#[tokio::test]
async fn a_cancelled_call_reports_its_end_once() {
    let failed = Some("503 number 0");
    // The step, true if the attempt is running, the number of failures, the records, the last error, and the payment.
    let table = [
        (
            "pause 1",
            false,
            9,
            &["retrying 1", "gave up 1 cancelled"][..],
            failed,
            0,
        ),
        (
            "attempt 2",
            false,
            9,
            &["retrying 1", "gave up 1 cancelled"],
            failed,
            0,
        ),
        (
            "attempt 2",
            true,
            9,
            &["retrying 1", "retrying 2", "gave up 2 cancelled"],
            failed,
            1,
        ),
        (
            "attempt 2",
            true,
            1,
            &["retrying 1", "succeeded 2"],
            failed,
            1,
        ),
        ("attempt 1", false, 9, &[], None, 0),
        ("begun", false, 9, &[], None, 0),
    ];
    for (at, under_way, failures, records, last, paid) in table {
        let (run, server, turns) = (Run::new(), Server::failing(failures), Turns::default());
        let recording = testing::record();
        for runs in [under_way, false] {
            let engine = Cancelled {
                journal: run.open(),
                at: &format!("charge: {at}"),
                runs,
                oversleeps: Duration::ZERO,
            };
            let call = Durable::new(EXACT).on(is_busy).budget(&turns);
            let ended = call.call(&engine, "charge", async || server.post()).await;
            let (error, last) = ("cancelled".to_owned(), last.map(str::to_owned));
            assert_eq!(ended, Err(DurableError::Engine { error, last }), "{at}");
        }
        let lines = recording.lines();
        let short = lines.iter().map(|line| {
            let attempt = line.split_once(" charge attempt=").unwrap();
            let end = if line.ends_with("reason=cancelled") {
                " cancelled"
            } else {
                ""
            };
            format!("{} {}{end}", attempt.0, &attempt.1[..1])
        });
        assert_eq!(short.collect::<Vec<_>>(), records, "{at}: {lines:?}");
        assert_eq!(turns.0.load(SeqCst), paid, "{at}");
    }
}

/// The deadline had passed when its run was cancelled: the previous error is not lost.
#[tokio::test(start_paused = true)]
async fn a_late_call_that_is_cancelled_keeps_its_error() {
    let (run, server) = (Run::new(), Server::failing(9));
    for runs in [true, false] {
        let engine = Cancelled {
            journal: run.open(),
            at: "charge: attempt 2",
            runs,
            oversleeps: secs(60),
        };
        let call = Durable::new(EXACT.deadline(secs(10))).on(is_busy);
        let ended = call.call(&engine, "charge", async || server.post()).await;
        let (error, last) = ("cancelled".to_owned(), Some("503 number 0".to_owned()));
        assert_eq!(ended, Err(DurableError::Engine { error, last }), "{runs}");
    }
    assert_eq!(server.requests.load(SeqCst), 1);
}

struct PanicsAtTheEnd;

impl Observer for PanicsAtTheEnd {
    fn observe(&self, event: &Event<'_>) {
        assert!(
            !matches!(event.data, EventData::GaveUp { .. }),
            "no metrics"
        );
    }
}

/// The retry that was paid for never started: cancelled in its pause, or late.
#[test]
fn a_retry_is_refunded_if_an_observer_panics() {
    for (at, oversleeps) in [("charge: pause 1", 0), ("", 60)] {
        let (run, server, turns) = (Run::new(), Server::failing(9), Turns::default());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().start_paused(true).build().unwrap();
            runtime.block_on(async {
                let engine = Cancelled {
                    journal: run.open(),
                    at,
                    runs: false,
                    oversleeps: secs(oversleeps),
                };
                let call = Durable::new(EXACT.deadline(secs(10)))
                    .on(is_busy)
                    .budget(&turns)
                    .observe(&PanicsAtTheEnd);
                call.call(&engine, "charge", async || server.post()).await
            })
        }));
        assert!(ended.is_err(), "{at}: {:?}", ended.unwrap());
        assert_eq!(server.requests.load(SeqCst), 1);
        assert_eq!(turns.0.load(SeqCst), 0, "{at}");
    }
}

/// Stores results in a format that can't be read without the type.
#[derive(Default)]
struct Binary(Mutex<HashMap<String, Vec<u8>>>);

impl Engine for Binary {
    type Error = postcard::Error;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, postcard::Error>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        if !self.0.lock().unwrap().contains_key(name) {
            let kept = postcard::to_allocvec(&step.await)?;
            self.0.lock().unwrap().insert(name.to_owned(), kept);
        }
        postcard::from_bytes(&self.0.lock().unwrap()[name])
    }

    async fn sleep(&self, _: &str, _: Duration) -> Result<(), postcard::Error> {
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

#[tokio::test]
async fn an_engine_may_keep_errors_in_a_binary_format() {
    let (engine, server) = (Binary::default(), Server::failing(9));
    for _ in 0..2 {
        let call = Durable::new(EXACT).on(is_busy);
        let ended = call.call(&engine, "charge", async || server.post()).await;
        assert_eq!(ended, Err(DurableError::GaveUp("503 number 3".to_owned())));
        assert_eq!(server.requests.load(SeqCst), 4);
    }
}
